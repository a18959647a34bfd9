/// Scripts for a LAN with a machine `watcher` that runs `pairtool discover --watch`, and what that says.
enum LANWatch {
    /// What was printed after each mark of the script, up to the next.
    struct Sections {
        var all: [(mark: String, events: [LAN.Event])]

        subscript(mark: String) -> [LAN.Event] {
            all.filter { $0.mark == mark }.flatMap(\.events)
        }

        /// The words of the events, without repetitions that follow each other.
        func words(_ mark: String) -> [String] {
            self[mark].map(\.event).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        }

        /// Which of the words there are.
        func kinds(_ mark: String) -> Set<String> {
            Set(self[mark].map(\.event))
        }

        /// The last row of a host.
        func last(_ mark: String, of name: String) -> LAN.Host? {
            self[mark].last { $0.host?.name == name }?.host
        }
    }

    /// - `watch MACHINE ARGUMENT...`: starts the watch, its id in `$watch`, and waits until it has settled.
    /// - `mark WORD`: begins a section of the output.
    /// - `seen PATTERN [SECONDS]`: waits for a line of this section.
    /// - `latest [-v] PATTERN`: whether there is a last line, and it has (-v: lacks) a pattern.
    private static let functions = """
        trap 'cat $LAN/watch; cat $LAN/watch.err >&2' EXIT
        : >>$LAN/watch
        : >>$LAN/watch.err
        marked=0
        watch() {
            local machine=$1
            shift
            start "$machine" "$PAIRTOOL" discover --watch --json "$@" >>$LAN/watch 2>>$LAN/watch.err
            watch=$!
            wait_for_line '"settled"' $LAN/watch
        }
        mark() {
            echo "{\\"event\\":\\"mark\\",\\"message\\":\\"$1\\",\\"at\\":\\"$(date -u +%FT%T.%3NZ)\\"}" >>$LAN/watch
            marked=$(wc -l <$LAN/watch)
        }
        lan_seen() { tail -n +$((marked + 1)) $LAN/watch | grep -q -e "$1"; }
        seen() { wait_until ${2:-20} lan_seen "$1"; }
        latest() { [ "$(wc -l <$LAN/watch)" -gt $marked ] && tail -n 1 $LAN/watch | grep -q "$@"; }

        """

    static func run(_ script: String) async throws -> (run: LAN.Run, sections: Sections) {
        let run = try await LAN.run(functions + script)
        var all: [(mark: String, events: [LAN.Event])] = [("start", [])]
        for event in run.lines(as: LAN.Event.self) {
            if event.event == "mark" {
                all.append((event.message ?? "", []))
            } else {
                all[all.count - 1].events.append(event)
            }
        }
        return (run, Sections(all: all))
    }

    /// How `add_host` makes a machine for an engine.
    static func watcher(_ engine: String) -> String {
        "add_host watcher" + (engine == "embedded" ? "" : " --daemon")
    }
}
