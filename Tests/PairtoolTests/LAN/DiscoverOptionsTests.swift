import Testing

@testable import pairtool

/// What the options of `discover` make of a LAN with hosts of two families.
@Suite(
    "Discovering some of the hosts, or for some time",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct DiscoverOptionsTests {
    private struct Row: Decodable {
        var run: String
        var name: String
    }

    /// - `look WORD ARGUMENT...`: a `discover` of the machine `user`, its rows marked with a word, and its exit code.
    private static func script(_ engine: String, _ commands: String) -> String {
        """
        add_host studio
        add_host user\(engine == "daemon" ? " --daemon" : "")
        responder studio
        look() {
            on user "$PAIRTOOL" discover --engine \(engine) --interface eth0 --json "${@:2}" >$LAN/$1.out 2>$LAN/$1.err
            echo "$1 $?"
            sed "s/^{/{\\"run\\":\\"$1\\",/" $LAN/$1.out
        }
        \(commands)
        """
    }

    @Test("--type browses the types that it names and no other", arguments: ["embedded", "daemon"])
    func types(engine: String) async throws {
        let run = try await LAN.run(
            Self.script(
                engine,
                """
                tell studio add _lumiagent._tcp 7001 Lumi
                tell studio add _aiclicode._tcp 7002 Desk
                tell studio add _http._tcp 80 Printer
                look all
                look lumi --type _lumiagent._tcp
                look both --type _lumiagent._tcp --type _aiclicode._tcp
                look other --type _http._tcp
                look none --type _jarvis._tcp
                """
            )
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Row.self)
        let expected = ["all": ["Desk", "Lumi"], "lumi": ["Lumi"], "both": ["Desk", "Lumi"], "other": ["Printer"]]
        for (word, names) in expected {
            #expect(rows.filter { $0.run == word }.map(\.name).sorted() == names, "\(word): \(run.output)")
            #expect(run.output.contains("\(word) 0\n"))
        }
        #expect(run.output.contains("none 3\n"))
    }

    @Test("--first ends with one host where there are several", arguments: ["embedded", "daemon"])
    func first(engine: String) async throws {
        let run = try await LAN.run(
            Self.script(
                engine,
                """
                for number in 1 2 3 4 5; do tell studio add _lumiagent._tcp 700$number Lumi$number host=lumi$number; done
                look all
                look first --first
                """
            )
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Row.self)
        #expect(rows.filter { $0.run == "all" }.count == 5, "\(run.output)")
        #expect(rows.filter { $0.run == "first" }.count == 1 && run.output.contains("first 0\n"))
    }

    @Test("--first with a --timeout waits for a host that comes later, and no longer than it takes to come")
    func firstWaits() async throws {
        let run = try await LAN.run(
            Self.script(
                "embedded",
                """
                start user "$PAIRTOOL" discover --engine embedded --first --timeout 3600s -q >$LAN/waiting.out
                waiting=$!
                # One that does not wait ends without a host.
                look now
                [ -d /proc/$waiting ] || fail "it has not waited"
                tell studio add _lumiagent._tcp 7001 Lumi id=0123456789abcdef
                wait_until 60 test ! -d /proc/$waiting
                wait $waiting || fail "it ended with $?"
                cat $LAN/waiting.out
                """
            )
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "now 3\n0123456789abcdef\n")
    }

    @Test("Where --timeout is over before any answer is in, the exit code is 4", arguments: ["embedded", "daemon"])
    func timeout(engine: String) async throws {
        let run = try await LAN.run(Self.script(engine, "look nothing --timeout 0.05s; cat $LAN/nothing.err"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("nothing 4\n"), "\(run.output)")
        #expect(run.errors.isEmpty && run.output.contains(#""code":"discovery.timed_out","#))
    }
}
