import Foundation

@testable import pairtool

/// Runs scripts in which a user at the machine `desk` looks for a host that has moved.
enum FoundAgain {
    /// How a command on the desk ended.
    struct Step: Sendable {
        var status: Int32
        var out = ""
        var err = ""

        /// The lines of standard output and error, without those that are empty.
        var errLines: [Substring] { err.split(separator: "\n") }
    }

    struct Run: Sendable {
        var lan: LAN.Run
        /// By the names that the script gave them.
        var steps: [String: Step]
        /// What the script noted: `note KEY VALUE`.
        var notes: [String: String]
    }

    static func run(_ script: String) async throws -> Run {
        let lan = try await LAN.run(functions + script)
        var run = Run(lan: lan, steps: [:], notes: [:])
        var name = ""
        for line in lan.output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let rest = words.count > 1 ? words[1] : ""
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            switch words[0] {
            case "step":
                name = parts[0]
                run.steps[name] = Step(status: Int32(parts[1]) ?? -1)
            case "out": run.steps[name]?.out += rest + "\n"
            case "err": run.steps[name]?.err += rest + "\n"
            case "note": run.notes[parts[0]] = parts.count > 1 ? parts[1] : ""
            default: break
            }
        }
        return run
    }

    /// What the scripts have besides the LAN's functions.
    private static let functions = #"""
        # serve MACHINE [OPTION...]: starts a host there. Its events are in $LAN/MACHINE.out, its process id is $served.
        serve() {
            : >$LAN/$1.out
            on $1 mkdir -p /run/garden
            start $1 "$PAIRTOOL" host --lan --project /run/garden --json --show-secrets "${@:2}" \
                >$LAN/$1.out 2>$LAN/$1.err
            served=$!
            wait_for_line '"advertised"' $LAN/$1.out
            wait_for_line '"challenge"' $LAN/$1.out
        }

        # end: ends the host that was started last.
        end() { kill -INT $served; wait $served; }

        # shown MACHINE KEY: what the QR code of the host there holds.
        shown() {
            "$PYTHON" -c 'import json, sys
        for line in open(sys.argv[1]):
            event = json.loads(line)
            if event.get("event") == "challenge":
                payload = json.loads(event["qrPayload"])
                print(payload[sys.argv[2]] if len(sys.argv) > 2 else event["qrPayload"])
                break' $LAN/$1.out ${2:+$2}
        }

        # pair MACHINE: pairs the desk with the host there, from its QR code.
        pair() {
            shown $1 >$LAN/payload.json
            on desk "$PAIRTOOL" pair --qr $LAN/payload.json --name desk >/dev/null 2>$LAN/pair.err ||
                fail "$(cat $LAN/pair.err)"
        }

        # move MACHINE ADDRESS: gives it another address, and the desk forgets which machine had which.
        move() {
            change_address $1 $2/24
            on desk ip neigh flush all
        }

        note() { echo "note $*"; }

        # record: notes where the desk's record says that its host is.
        record() { note $1 "$(on desk "$PAIRTOOL" hosts --json | sed 's/.*"address":"\([^"]*\)".*"port":\([0-9]*\).*/\1:\2/')"; }

        # step NAME COMMAND...: runs a command on the desk and tells how it ended.
        step() {
            on desk "${@:2}" >$LAN/step.out 2>$LAN/step.err
            echo "step $1 $?"
            sed 's/^/out /' $LAN/step.out
            sed 's/^/err /' $LAN/step.err
        }

        # tool NAME ARGUMENT...: the same with the tool.
        tool() { step $1 "$PAIRTOOL" "${@:2}"; }


        """#
}
