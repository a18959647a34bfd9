import Foundation
import Testing

@testable import pairtool

/// What pairtool makes of adverts that are broken or lie, sent byte by byte.
@Suite(
    "Hostile and broken adverts on a LAN",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct HostileAdvertTests {
    private struct Row: Decodable {
        var id: String
        var name: String
        var marks: [String]
        var sameNameAs: [String]?
        var unresolved: Bool
        var paired: Bool
        var addresses: [LAN.Host.Address]
        var probe: LAN.Host.Probe?
    }

    private static let long = String(repeating: "y", count: 63)

    /// See `Service` in raw_responder.py.
    private static var adverts: [[String: Any]] {
        [
            ["instance": "Evil \u{1B}[31mred\u{202E}gnp\u{200B}", "txt": ["id=00000000000000e1"]],
            ["instance": long, "txt": ["id=00000000000000e2"]],
            ["instance": "Latin", "txt": ["id=00000000000000e3"], "txtHex": ["6e616d653d4ce9"]],
            ["instance": "Studio", "txt": ["id=00000000000000e4"]],
            // Its last letter is Cyrillic.
            ["instance": "Studi\u{43E}", "port": 666, "txt": ["id=00000000000000e5"]],
            [
                "instance": "Big",
                "txt": ["id=00000000000000e6", "ID=00000000000000ff", "", "=x"]
                    + ["a", "b", "c", "d", "e", "f"].map { "\($0)=" + String(repeating: "x", count: 210) },
            ],
            ["instance": "Zero", "port": 0, "txt": ["id=00000000000000e7"]],
            ["instance": "Dead", "target": "nowhere.local", "address": [String](), "txt": ["id=00000000000000e8"]],
            ["instance": "Bare", "target": "macbook", "address": [String](), "type": "_aiclicode._tcp", "port": 3001],
            ["instance": "Public", "address": ["8.8.8.8"], "txt": ["id=00000000000000ea"]],
            ["instance": "Pathless", "target": NSNull()],
        ]
    }

    private func script(_ commands: String, adverts: [[String: Any]] = adverts) throws -> String {
        let complete = adverts.enumerated().map { index, advert in
            ["type": "_cf-companion._tcp", "target": "host\(index).local", "address": ["10.77.0.1"]]
                .merging(advert) { $1 }
        }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: complete), as: UTF8.self)
        return """
            cat >$LAN/adverts.json <<'END'
            \(json)
            END
            add_host liar --ipv4-only
            add_host desk --ipv4-only --daemon
            start liar "$PYTHON" "$SUPPORT/raw_responder.py" $LAN/adverts.json >$LAN/liar.out
            wait_for_line ready $LAN/liar.out
            \(commands)
            """
    }

    @Test("All are shown, and marked with what is wrong", arguments: ["daemon", "embedded"])
    func marks(engine: String) async throws {
        let command = "on desk \"$PAIRTOOL\" discover --engine \(engine) --interface eth0 --json"
        let run = try await LAN.run(script(command))
        #expect(run.status == 0, "\(run.errors)")
        #expect(!run.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\u{200B}" })
        let rows = run.lines(as: Row.self)
        #expect(rows.count == Self.adverts.count)
        func row(_ name: String) throws -> Row { try #require(rows.first { $0.name == name }, "\(name)") }
        #expect(try row("Evil \u{1B}[31mred\u{202E}gnp\u{200B}").marks == ["unsafe-text"])
        #expect(try row(Self.long).marks == [])
        #expect(try row("L\u{FFFD}").marks == ["invalid-utf8"])
        #expect(try row("Studio").sameNameAs == ["00000000000000e5"])
        let imitation = try row("Studi\u{43E}")
        #expect(imitation.marks == ["same-name"] && imitation.addresses.map(\.port) == [666])
        let big = try row("Big")
        #expect(big.marks == ["repeated-keys", "broken-keys"] && big.id == "00000000000000e6")
        let zero = try row("Zero")
        #expect(zero.marks == ["port-0"] && zero.unresolved && zero.addresses.isEmpty)
        for (name, port) in [("Dead", 7878), ("Bare", 3001)] {
            let row = try row(name)
            #expect(row.marks == ["address-from-sender"])
            #expect(row.addresses == [LAN.Host.Address(address: "10.77.0.1", port: port, interface: "eth0")])
        }
        #expect(try row("Public").marks == ["public-address"])
        let pathless = try row("Pathless")
        #expect(pathless.marks == ["no-address"] && pathless.unresolved)
    }

    @Test("In a narrow terminal no line is too long, and nothing steers the terminal")
    func terminal() async throws {
        let run = try await LAN.run(
            script(#"NO_COLOR=1 on desk script -qec "stty cols 70; '$PAIRTOOL' discover --interface eth0" /dev/null"#)
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(!run.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\u{200B}" })
        let lines = run.output.split(whereSeparator: \.isNewline).prefix { !$0.hasPrefix("  ") }
        #expect(lines.count == Self.adverts.count + 1)
        #expect(lines.allSatisfy { $0.count <= 70 })
        #expect(lines.first?.contains("MARKS") == true)
        #expect(run.output.contains("same-name: looks like the name of another host"))
    }

    @Test("A public address and port 0 are neither probed nor paired with")
    func notContacted() async throws {
        let run = try await LAN.run(
            script(
                """
                on desk ip route add default dev eth0
                on desk "$PAIRTOOL" discover --interface eth0 --probe --json || exit 1
                for name in Public Zero; do
                    echo 123456 | on desk "$PAIRTOOL" pair $name --code-stdin --allow-legacy --interface eth0
                    [ $? = 3 ] || fail "$name was paired with"
                done
                # Every address is on the link: whoever would have been spoken to would have an entry.
                ! on desk ip neighbour | grep '^8\\.8\\.8\\.8 ' >&2
                """
            )
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Row.self)
        #expect(rows.first { $0.name == "Public" }?.probe?.state == "skipped")
        #expect(rows.first { $0.name == "Zero" }?.probe?.state == "down")
        #expect(run.errors.contains("not on your network"))
        #expect(run.errors.contains("advertises port 0"))
    }

    @Test("An advert with the id of a paired host, but another key, neither replaces the record nor hides the host")
    func otherKey() async throws {
        let run = try await LAN.run(
            """
            add_host studio
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json --show-secrets >$LAN/host.out 2>&1
            add_host liar --ipv4-only
            add_host desk --ipv4-only
            wait_for_line '"challenge"' $LAN/host.out
            wait_for_line '"advertised"' $LAN/host.out
            code=$(sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1)
            echo "$code" | on desk "$PAIRTOOL" pair --url https://10.77.0.1:7879 --code-stdin >&2 || exit 1
            on desk "$PAIRTOOL" hosts --json >$LAN/before
            id=$(sed -n 's/.*"id":"\\([0-9a-f]*\\)".*/\\1/p' $LAN/before)
            cat >$LAN/adverts.json <<END
            [{"instance": "A", "type": "_cf-companion._tcp", "target": "liar.local", "address": ["10.77.0.2"], "port": 7879,
              "txt": ["v=2", "id=$id", "tls=7879", "name=Elsewhere", "spki=AAAA"]},
             {"instance": "Shed ", "type": "_cf-companion._tcp", "target": "liar2.local", "address": ["10.77.0.2"],
              "txt": ["v=2", "id=00000000000000e9", "tls=7879"]}]
            END
            start liar "$PYTHON" "$SUPPORT/raw_responder.py" $LAN/adverts.json >$LAN/liar.out
            wait_for_line ready $LAN/liar.out
            on desk "$PAIRTOOL" discover --json || exit 1
            on desk "$PAIRTOOL" status >&2 || fail "the paired host is out of reach"
            on desk "$PAIRTOOL" hosts --json >$LAN/after
            sed 's/"lastSeenAt":"[^"]*",*//' $LAN/before >$LAN/before.plain
            sed 's/"lastSeenAt":"[^"]*",*//' $LAN/after | cmp - $LAN/before.plain || fail "the record has changed"
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Row.self)
        let claimed = try #require(rows.first { $0.marks.contains("same-id") }, "\(run.output)")
        // Both machines are there.
        #expect(Set(claimed.addresses.map(\.address)) == ["10.77.0.1", "10.77.0.2"])
        #expect(claimed.marks.contains("other-key") && claimed.paired)
        let imitation = try #require(rows.first { $0.id == "00000000000000e9" })
        #expect(imitation.marks.contains("same-name") && imitation.sameNameAs == [claimed.id])
    }
}
