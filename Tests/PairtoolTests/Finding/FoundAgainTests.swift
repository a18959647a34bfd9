import Testing

@testable import pairtool

/// A paired host that is not where it was, on a LAN with the built binary at both ends.
@Suite(
    "A paired host is found again",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct FoundAgainTests {
    @Test("At another address, port and name: by its key, without a new pairing, said once and then known")
    func moved() async throws {
        let run = try await FoundAgain.run(
            """
            hellos() { [ "$(grep -c '"hello"' $LAN/watch.out)" -ge $1 ]; }
            add_host studio --ipv4-only
            add_host desk --ipv4-only
            serve studio --name Studio
            pair studio
            tool still projects --json
            move studio 10.77.0.50
            tool address projects --json
            tool again projects --json
            record address
            end
            serve studio --name Atelier --port 9000
            tool port projects --json
            record port
            move desk 10.77.0.70
            tool desk status --json
            start desk "$PAIRTOOL" watch --json >$LAN/watch.out 2>/dev/null
            watch=$!
            wait_for_line '"hello"' $LAN/watch.out
            end
            serve studio --name Studio --port 8000
            wait_until hellos 2
            kill -INT $watch
            wait $watch
            note watch $?
            """
        )
        #expect(run.lan.status == 0, "\(run.lan.errors)")
        let project = try #require(run.steps["still"]?.out)
        #expect(project.contains("garden") && run.steps["still"]?.err == "")
        for name in ["address", "again", "port"] {
            let step = try #require(run.steps[name])
            #expect(step.status == 0 && step.out == project, "\(name): \(step)")
        }
        #expect(run.steps["address"]?.err == "Studio moved to 10.77.0.50:7879.\n")
        #expect(run.steps["again"]?.err == "")
        #expect(run.steps["port"]?.err == "Studio moved to 10.77.0.50:9001.\n")
        #expect(run.notes["address"] == "10.77.0.50:7879")
        #expect(run.notes["port"] == "10.77.0.50:9001")
        // This machine may move too: a session is bound to its key, not to its address.
        let status = try #require(run.steps["desk"])
        #expect(status.status == 0 && status.err == "", "\(status)")
        #expect(status.out.contains(#""connected":true"#))
        #expect(run.notes["watch"] == "130", "a watch goes on at the new port, until it is interrupted")
    }

    @Test("A machine that claims the id, at the old address or by an advert, is sent nothing and hides nothing")
    func impostor() async throws {
        let run = try await FoundAgain.run(
            """
            add_host studio --ipv4-only
            add_host desk --ipv4-only
            add_host stranger --ipv4-only
            serve studio --name Studio
            pair studio
            note expected $(shown studio spki)
            id=$(shown studio host)
            studio=$served
            serve stranger --name Stranger
            note other $(shown stranger spki)
            responder stranger
            tell stranger add _cf-companion._tcp 7879 Studio id=$id name=Studio
            tell stranger add _copilotforge-companion._tcp 7878 Studio id=$id name=Studio
            served=$studio
            end
            move studio 10.77.0.50
            tool gone projects --json
            record gone
            move stranger 10.77.0.1
            serve studio --name Studio
            tool back projects --json
            record back
            note requests $(grep -c -v -e '"listening"' -e '"challenge"' -e '"advertised"' $LAN/stranger.out)
            """
        )
        #expect(run.lan.status == 0, "\(run.lan.errors)")
        let (expected, other) = (try #require(run.notes["expected"]), try #require(run.notes["other"]))
        let gone = try #require(run.steps["gone"])
        #expect(gone.status == 1 && gone.out.isEmpty, "\(gone)")
        #expect(gone.err.contains("host.pin_mismatch"), "\(gone.err)")
        #expect(gone.err.contains("10.77.0.3:7879") && gone.err.contains(expected) && gone.err.contains(other))
        #expect(run.notes["gone"] == "10.77.0.1:7879", "the record stays as it was")
        let back = try #require(run.steps["back"])
        #expect(back.status == 0 && !back.out.isEmpty, "\(back)")
        #expect(back.err.contains("10.77.0.1:7879 shows another TLS key"), "\(back.err)")
        #expect(back.err.contains(expected) && back.err.contains(other))
        #expect(back.err.contains("Studio moved to 10.77.0.50:7879."))
        #expect(run.notes["back"] == "10.77.0.50:7879")
        #expect(run.notes["requests"] == "0", "nobody came in")
    }

    @Test("Without multicast: the last address, that of the QR code, and --host; else it is said what was tried")
    func blocked() async throws {
        let run = try await FoundAgain.run(
            """
            add_host studio --ipv4-only
            add_host desk --ipv4-only
            serve studio --name Studio
            pair studio
            block_multicast studio
            tool last projects --json
            allow_multicast studio
            move studio 10.77.0.50
            tool moved projects --json
            block_multicast studio
            move studio 10.77.0.1
            tool code projects --json
            allow_multicast studio
            move studio 10.77.0.51
            tool moved projects --json
            block_multicast studio
            move studio 10.77.0.60
            tool nowhere devices --json
            tool told devices
            record nowhere
            tool discover discover --host 10.77.0.60 --json
            tool secure discover --host 10.77.0.60:7879 --json
            tool nobody discover --host 10.77.0.61 --json
            tool wrong projects --host 10.77.0.61 --json
            tool named projects --host 10.77.0.60 --json
            record named
            tool plain projects --host 10.77.0.60:7878 --json
            tool known projects --json
            """
        )
        #expect(run.lan.status == 0, "\(run.lan.errors)")
        #expect(run.steps["last"]?.status == 0 && run.steps["last"]?.err == "")
        #expect(run.steps["code"]?.status == 0)
        #expect(run.steps["code"]?.err == "Studio moved to 10.77.0.1:7879.\n")
        let nowhere = try #require(run.steps["nowhere"])
        #expect(nowhere.status == 10 && nowhere.out.isEmpty)
        #expect(nowhere.err.contains(#""code":"host.unreachable""#), "\(nowhere.err)")
        let told = try #require(run.steps["told"])
        #expect(told.status == 10 && told.out.isEmpty)
        #expect(told.err.contains("where it last was: No TLS connection to 10.77.0.51:7879"), "\(told.err)")
        #expect(told.err.contains("as its QR code said: No TLS connection to 10.77.0.1:7879"), "\(told.err)")
        #expect(told.err.contains("mDNS (embedded engine): no host advertises its id"), "\(told.err)")
        #expect(told.err.contains("--host ADDRESS"))
        #expect(run.notes["nowhere"] == "10.77.0.51:7879")
        for name in ["discover", "secure"] {
            let row = try #require(run.steps[name])
            #expect(row.status == 0 && row.err == "", "\(row)")
            #expect(row.out.contains(#""name":"Studio""#) && row.out.contains(#""trust":"verified""#), "\(row.out)")
            #expect(row.out.contains(#""state":"up""#) && row.out.contains(#""conflicting":false"#))
        }
        #expect(run.steps["nobody"]?.status == 10)
        #expect(run.steps["wrong"]?.status == 10)
        #expect(run.steps["named"]?.status == 0)
        #expect(run.steps["named"]?.err == "Studio moved to 10.77.0.60:7879.\n")
        #expect(run.notes["named"] == "10.77.0.60:7879")
        #expect(run.steps["plain"]?.status == 0 && run.steps["plain"]?.err == "")
        #expect(run.steps["known"]?.status == 0 && run.steps["known"]?.err == "")
    }

    @Test("At a named address a key tells which of several hosts it is, and a stranger's key is refused with both pins")
    func namedKey() async throws {
        let run = try await FoundAgain.run(
            """
            add_host studio --ipv4-only
            add_host desk --ipv4-only
            add_host other --ipv4-only
            add_host stranger --ipv4-only
            serve studio --name Studio
            pair studio
            serve other --name Other
            pair other
            serve stranger --name Stranger
            note expected $(shown studio spki)
            note stranger $(shown stranger spki)
            move other 10.77.0.50
            tool key status --host 10.77.0.50 --json
            step environment env PAIRTOOL_HOST=10.77.0.50 "$PAIRTOOL" status --json
            tool refused status --host 10.77.0.4 --json
            tool asked discover --host 10.77.0.4 --json
            """
        )
        #expect(run.lan.status == 0, "\(run.lan.errors)")
        for name in ["key", "environment"] {
            let step = try #require(run.steps[name])
            #expect(step.status == 0 && step.out.contains(#""name":"Other""#), "\(step)")
        }
        let refused = try #require(run.steps["refused"])
        #expect(refused.status == 1 && refused.out.isEmpty && refused.err.contains("host.pin_mismatch"), "\(refused)")
        #expect(refused.err.contains(try #require(run.notes["expected"])))
        #expect(refused.err.contains(try #require(run.notes["stranger"])))
        let asked = try #require(run.steps["asked"])
        #expect(asked.status == 0 && asked.out.contains(#""paired":false"#), "\(asked)")
    }

    @Test("A legacy host proves nothing: it is asked for once, and not spoken to without a yes")
    func legacy() async throws {
        let run = try await FoundAgain.run(
            #"""
            add_host studio --ipv4-only
            add_host desk --ipv4-only
            serve studio --name Studio --legacy
            on desk "$PYTHON" - $(shown studio code) $(shown studio host) <<'END' || fail "not paired"
            import base64, hashlib, json, os, sys, urllib.request
            key = base64.b64encode(os.urandom(32)).decode()
            body = {"pairingCode": sys.argv[1], "deviceName": "desk", "devicePublicKey": key}
            urllib.request.urlopen(urllib.request.Request(
                "http://10.77.0.1:7878/companion/pairing/complete",
                json.dumps(body).encode(), {"Content-Type": "application/json"})).read()
            os.makedirs("/run/home/data/pairtool", 0o700)
            host = {"id": sys.argv[2], "name": "Studio", "family": "copilotforge", "trust": "legacy",
                    "endpoint": {"address": "10.77.0.1", "port": 7878}, "pairedAt": "2026-01-02T03:04:05.000Z",
                    "deviceID": hashlib.sha256(key.encode()).hexdigest()[:16]}
            with open("/run/home/data/pairtool/hosts.json", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                json.dump({"version": 1, "defaultID": sys.argv[2], "hosts": [host]}, file)
            END
            tool still projects --json
            move studio 10.77.0.50
            tool refused projects --json
            step declined $SUPPORT/terminal.py --at '[y/N] ' $'n\n' "$PAIRTOOL" projects --json
            record declined
            step accepted $SUPPORT/terminal.py --at '[y/N] ' $'y\n' "$PAIRTOOL" projects
            record accepted
            step known $SUPPORT/terminal.py --at '[y/N] ' $'n\n' "$PAIRTOOL" projects
            move studio 10.77.0.51
            tool flag projects --json --allow-legacy
            block_multicast studio
            move studio 10.77.0.52
            tool named projects --host 10.77.0.52 --json
            record named
            tool allowed projects --host 10.77.0.52 --allow-legacy
            tool end projects --json
            """#
        )
        #expect(run.lan.status == 0, "\(run.lan.errors)")
        let project = try #require(run.steps["still"]?.out)
        #expect(!project.isEmpty)
        let refused = try #require(run.steps["refused"])
        #expect(refused.status == 13 && refused.out.isEmpty && refused.err.contains("host.moved_legacy"), "\(refused)")
        #expect(refused.err.contains("--allow-legacy") && refused.err.contains("10.77.0.50:7878"))
        let declined = try #require(run.steps["declined"])
        #expect(declined.status == 13 && declined.out.contains("Is Studio now at 10.77.0.50? [y/N]"), "\(declined)")
        #expect(run.notes["declined"] == "10.77.0.1:7878")
        let accepted = try #require(run.steps["accepted"])
        #expect(accepted.status == 0 && accepted.out.contains("Is Studio now at 10.77.0.50? [y/N]"), "\(accepted)")
        #expect(accepted.out.contains("Studio moved to 10.77.0.50:7878.") && accepted.out.contains("garden"))
        #expect(run.notes["accepted"] == "10.77.0.50:7878")
        let known = try #require(run.steps["known"])
        #expect(known.status == 0 && !known.out.contains("[y/N]"), "asked once: \(known)")
        #expect(run.steps["flag"]?.status == 0 && run.steps["flag"]?.out == project)
        let named = try #require(run.steps["named"])
        #expect(named.status == 13 && named.err.contains("--host 10.77.0.52:7878 --allow-legacy"), "\(named)")
        #expect(run.notes["named"] == "10.77.0.51:7878")
        #expect(run.steps["allowed"]?.status == 0)
        #expect(run.steps["end"]?.status == 0 && run.steps["end"]?.err == "")
    }

    @Test("On machines with IPv6 alone, and through the daemon, it is found as well")
    func otherWays() async throws {
        for options in ["--ipv6-only", "--daemon"] {
            let run = try await FoundAgain.run(
                """
                add_host studio \(options)
                add_host desk \(options)
                serve studio --name Studio
                shown studio >$LAN/payload.json
                on desk "$PAIRTOOL" pair --qr $LAN/payload.json --name desk >&2 || fail "not paired"
                end
                serve studio --name Studio --port 9000
                tool port projects --json
                tool again projects --json
                """
            )
            #expect(run.lan.status == 0, "\(options) \(run.lan.errors)")
            let port = try #require(run.steps["port"])
            #expect(port.status == 0 && !port.out.isEmpty, "\(options) \(port)")
            #expect(port.err.contains("Studio moved to ") && port.err.contains(":9001."), "\(options) \(port)")
            #expect(run.steps["again"]?.err == "", "\(options)")
        }
    }
}
