import FoundationEssentials
import Testing

@testable import pairtool

/// Every failure that `pairtool doctor` knows, produced on a LAN of network namespaces (see `lan.sh`).
@Suite(
    "The doctor on a LAN",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(
        if: LAN.missing.isEmpty && Diagnosis.missing.isEmpty,
        "skipped, missing: \((LAN.missing + Diagnosis.missing).joined(separator: ", "))"
    )
)
struct DoctorLANTests {
    @Test("A machine where all is well: nothing is a problem, the engine and others are named, and the exit code is 0")
    func well() async throws {
        let run = try await Diagnosis.run(
            """
            add_host studio --daemon
            add_host desk --daemon
            publish studio Studio _copilotforge-companion._tcp 7878 id=0123456789abcdef
            publish studio Studio _cf-companion._tcp 7879 id=0123456789abcdef
            examine desk
            """
        )
        let desk = try run.examined("desk")
        #expect(desk.status == 0)
        #expect(desk["daemon"]?.verdict == "ok" && desk["daemon"]?.evidence.contains("desk.local") == true)
        #expect(desk["engine"]?.evidence == "daemon, because the Avahi daemon answers")
        #expect(desk["port"]?.evidence.contains("avahi-daemon") == true)
        #expect(desk["interfaces"]?.evidence.contains("eth0 (10.77.0.2") == true)
        #expect(["ok", "note"].contains(desk["firewall"]?.verdict), "the machine around it may have a firewall")
        #expect(desk["multicast"]?.verdict == "ok" && desk["multicast"]?.evidence.contains("10.77.0.1") == true)
        #expect(desk["adverts"]?.evidence == "Studio")
        #expect(desk["service-type"]?.verdict == "ok")
        #expect(desk.problems.isEmpty)
    }

    @Test("No daemon, a bus that is dead, a bus that keeps silent, a daemon that was killed")
    func daemon() async throws {
        let run = try await Diagnosis.run(
            """
            bus='import os, signal, socket, sys
            os.makedirs("/run/dbus")
            bus = socket.socket(socket.AF_UNIX)
            bus.bind("/run/dbus/system_bus_socket")
            bus.listen(1)
            open("/run/ready", "w")
            if sys.argv[1] == "stay": signal.pause()'
            add_host none
            add_host dead
            add_host mute
            add_host killed --daemon
            on dead $PYTHON -c "$bus" leave
            start mute $PYTHON -c "$bus" stay
            wait_until on mute test -e /run/ready
            kill_daemon killed
            for machine in none dead mute killed; do examine $machine; done
            """
        )
        let none = try run.examined("none")
        #expect(none.problems == [])
        #expect(none["daemon"]?.verdict == "note" && none["daemon"]?.evidence.contains("no system bus") == true)
        #expect(none["engine"]?.evidence == "embedded, because no Avahi daemon answers")
        let dead = try run.examined("dead")
        #expect(dead.status == 1 && dead.problems == ["daemon"])
        #expect(dead["daemon"]?.evidence.contains("Connection refused") == true)
        #expect(dead["daemon"]?.advice?.contains("systemctl restart dbus") == true)
        let mute = try run.examined("mute")
        #expect(mute.status == 1 && mute["daemon"]?.evidence.contains("does not answer") == true)
        let killed = try run.examined("killed")
        #expect(killed["daemon"]?.evidence == "the system bus works, but no Avahi daemon is on it")
        #expect(killed["engine"]?.evidence.hasPrefix("embedded") == true)
    }

    /// Starts a program that takes UDP port 5353 for itself, and is ready when `/run/ready` is there.
    private static func taker(of family: String) -> String {
        """
        start desk $PYTHON -c 'import signal, socket
        taken = socket.socket(socket.\(family), socket.SOCK_DGRAM)
        taken.bind(("", 5353))
        open("/run/ready", "w")
        signal.pause()'
        """
    }

    @Test("A program that has UDP port 5353 for itself is named")
    func port() async throws {
        let run = try await Diagnosis.run(
            """
            add_host desk
            \(Self.taker(of: "AF_INET"))
            taker=$!
            wait_until on desk test -e /run/ready
            examine desk
            echo $taker
            """
        )
        let desk = try run.examined("desk")
        let taker = run.output.split(separator: "\n").last ?? ""
        #expect(desk.status == 1 && desk.problems.contains("port"))
        #expect(desk["port"]?.evidence == "UDP port 5353 cannot be shared with python3 (process \(taker))")
        #expect(desk["port"]?.advice?.hasPrefix("End python3") == true)
    }

    @Test("Where another program has the port of IPv4 and IPv6 for itself, the embedded engine cannot start")
    func noEngine() async throws {
        let run = try await Diagnosis.run(
            """
            add_host desk
            \(Self.taker(of: "AF_INET6"))
            wait_until on desk test -e /run/ready
            examine desk --engine embedded
            on desk "$PAIRTOOL" discover --engine embedded; echo "discover $?"
            """
        )
        let desk = try run.examined("desk")
        #expect(desk.status == 1 && desk.problems.prefix(2) == ["engine", "port"], "\(desk.rows)")
        #expect(desk["engine"]?.evidence.hasPrefix("embedded: ") == true)
        // There is no daemon, so nobody is sent to one.
        #expect(desk["engine"]?.advice?.contains("--engine") == false)
        #expect(run.output.contains("discover 1"), "\(run.errors)")
        #expect(run.errors.contains("next: see why: pairtool doctor"), "\(run.errors)")
    }

    @Test("Behind a firewall that drops port 5353 the self-test hears nothing, and the firewall is named")
    func firewall() async throws {
        let run = try await Diagnosis.run(
            """
            add_host nft
            chain='{ type filter hook input priority 0; policy accept; }'
            on nft nft "add table inet site; add chain inet site input $chain; add rule inet site input udp dport 5353 drop"
            examine nft
            on nft "$PAIRTOOL" discover; echo "discover $?"
            """
        )
        let nft = try run.examined("nft")
        #expect(nft.status == 1 && nft.problems == ["multicast"])
        #expect(nft["firewall"]?.verdict == "note" && nft["firewall"]?.advice?.contains("5353") == true)
        #expect(nft["multicast"]?.evidence.contains("did not come back over IPv4") == true)
        #expect(nft["multicast"]?.advice?.hasPrefix("Allow UDP port 5353") == true)
        #expect(nft["multicast"]?.advice?.contains("firewall line of pairtool doctor") == true)
        // The cause where nothing is found.
        #expect(run.output.contains("discover 3"))
        let causes = run.errors.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains(" → ") }
        #expect(causes.count == 1, "\(run.errors)")
        #expect(causes.first?.hasPrefix("  multicast: eth0: the test packet did not come back") == true)
        #expect(causes.first?.contains("pairtool doctor") == true, "discover itself does not look at the firewall")
    }

    @Test("An interface without multicast, one without a network, containers and VPNs")
    func interfaces() async throws {
        let run = try await Diagnosis.run(
            """
            add_host mute
            on mute ip link set eth0 multicast off
            add_host unplugged
            link_down unplugged
            add_host busy
            on busy ip link add docker0 type veth peer name veth1
            on busy ip link add wg0 type veth peer name veth2
            for port in docker0 veth1 wg0 veth2; do on busy ip link set $port up; done
            for machine in mute unplugged busy; do examine $machine; done
            on mute "$PAIRTOOL" discover --json 2>&1 >/dev/null
            """
        )
        let mute = try run.examined("mute")
        #expect(mute.status == 1 && mute["interfaces"]?.verdict == "problem")
        #expect(mute["interfaces"]?.subject == "eth0")
        #expect(mute["interfaces"]?.advice == "Switch multicast on: sudo ip link set eth0 multicast on")
        #expect(mute["multicast"]?.verdict == "skipped")
        let unplugged = try run.examined("unplugged")
        #expect(unplugged["interfaces"]?.evidence == "no network interface is up and connected")
        let busy = try run.examined("busy")
        #expect(busy["interfaces"]?.verdict == "ok")
        #expect(busy.rows.contains { $0.verdict == "note" && $0.evidence.hasPrefix("docker0, veth1, veth2: ") })
        let tunnel = busy.rows.first { $0.subject == "wg0" }
        #expect(tunnel?.verdict == "note" && tunnel?.evidence == "is a VPN or tunnel")
        #expect(run.output.contains(#""details":["interfaces: eth0: multicast is switched off → "#))
    }

    @Test("A network that keeps multicast back, and a host that is seen under the over-long type only")
    func network() async throws {
        let run = try await Diagnosis.run(
            """
            add_host studio --daemon
            add_host near
            add_host far
            publish studio Long _copilotforge-companion._tcp 7878
            block_multicast far
            examine near
            examine far
            on far "$PAIRTOOL" discover; echo "discover $?"
            """
        )
        let near = try run.examined("near")
        #expect(near.status == 1 && near["multicast"]?.verdict == "ok" && near["adverts"]?.evidence == "Long")
        #expect(near["service-type"]?.verdict == "warning")
        #expect(
            near["service-type"]?.evidence.hasPrefix("advertises _copilotforge-companion._tcp only: 22 bytes") == true
        )
        let far = try run.examined("far")
        #expect(far.status == 1 && far.problems == [] && far["multicast"]?.verdict == "warning")
        #expect(far["multicast"]?.evidence.hasSuffix("but no other machine was heard") == true)
        #expect(far["adverts"]?.verdict == "warning")
        #expect(run.output.contains("discover 3"))
        #expect(run.errors.contains("start a host with: pairtool host --lan"), "\(run.errors)")
    }

    @Test("A paired host: well, then this device revoked, then the host gone")
    func host() async throws {
        let run = try await Diagnosis.run(
            """
            add_host studio
            add_host desk
            on studio mkdir /run/garden
            start studio "$PAIRTOOL" host --lan --name Studio --project /run/garden --json --show-secrets >$LAN/host.out 2>&1
            host=$!
            wait_for_line '"challenge"' $LAN/host.out
            sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1 |
                on desk "$PAIRTOOL" pair --url http://10.77.0.1:7878 --code-stdin --require verified >&2 || fail "not paired"
            examine desk --host Studio
            device=$(on studio "$PAIRTOOL" host devices -q)
            on studio "$PAIRTOOL" host revoke "$device" >&2
            again examine desk --host Studio
            kill -TERM $host
            wait $host
            again examine desk
            """
        )
        let well = try run.examined("desk")
        #expect(well.status == 0, "\(well.rows)")
        #expect(well["host"]?.subject == "Studio" && well["host"]?.evidence.hasSuffix("(trust: verified)") == true)
        #expect(well["version"]?.evidence.contains("protocol 1 and 2") == true)
        for check in ["sign-in", "pairing", "clock", "files"] { #expect(well[check]?.verdict == "ok", "\(check)") }
        let revoked = try run.examined("desk again")
        #expect(revoked.status == 1 && revoked.problems == ["pairing"])
        #expect(revoked["pairing"]?.evidence.contains("revoked") == true)
        #expect(revoked["pairing"]?.advice == "Show a new code on Studio, then: pairtool pair")
        let gone = try run.examined("desk again again")
        #expect(gone.status == 1 && gone.problems == ["host"])
        #expect(gone["host"]?.advice == "Check that Studio is on and on this network: pairtool discover --probe")
    }

    @Test("A paired host that has moved is no problem: it is said where it is, and how to go there")
    func moved() async throws {
        let run = try await Diagnosis.run(
            """
            add_host studio --ipv4-only
            add_host desk
            on studio mkdir /run/garden
            start studio "$PAIRTOOL" host --lan --name Studio --project /run/garden --json --show-secrets >$LAN/host.out 2>&1
            host=$!
            wait_for_line '"challenge"' $LAN/host.out
            sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1 |
                on desk "$PAIRTOOL" pair --url http://10.77.0.1:7878 --code-stdin --require verified >&2 || fail "not paired"
            kill -TERM $host
            wait $host
            change_address studio 10.77.0.91/24
            start studio "$PAIRTOOL" host --lan --name Studio --project /run/garden --json >$LAN/moved.out 2>&1
            wait_for_line '"advertised"' $LAN/moved.out
            examine desk
            """
        )
        let desk = try run.examined("desk")
        #expect(desk.status == 1 && desk.problems == [], "\(desk.rows)")
        #expect(desk["host"]?.verdict == "warning")
        #expect(desk["host"]?.evidence == "does not answer at 10.77.0.1:7879, but is advertised at 10.77.0.91")
        #expect(desk["host"]?.advice == "Let pairtool find it there: pairtool status --host 'Studio'")
    }

    @Test("A machine that has lo alone hears itself, and nobody else")
    func alone() async throws {
        let run = try await Diagnosis.run(
            """
            add_host desk
            on desk ip link delete eth0
            examine desk --interface lo --engine embedded
            """
        )
        let desk = try run.examined("desk")
        #expect(desk["multicast"]?.verdict == "ok", "\(desk.rows)")
        #expect(desk["multicast"]?.evidence == "the test packet came back over IPv4", "\(desk.rows)")
    }

    @Test("A directory that cannot be written, because its file system is read-only")
    func unwritable() async throws {
        let run = try await Diagnosis.run(
            """
            add_host desk
            on desk mkdir /run/home/state
            on desk mount -t tmpfs -o ro tmpfs /run/home/state
            examine desk
            echo "== both"
            on desk env XDG_RUNTIME_DIR=/run/home/state/run "$PAIRTOOL" doctor --json
            echo "exit $?"
            """
        )
        let desk = try run.examined("desk")
        #expect(desk.status == 1 && desk.problems == ["disk"], "\(desk.rows)")
        #expect(desk["disk"]?.evidence == "cannot be written: Read-only file system")
        #expect(desk["disk"]?.subject == "/run/home/state")
        #expect(desk["disk"]?.advice == "Make it writable for you: ls -ld '/run/home/state'")
        // Two directories that are missing below one place are one problem.
        #expect(try run.examined("both").problems == ["disk"])
    }

    @Test("Keys that others may read, a disk that is almost full and one that is, a camera of a group")
    func machine() async throws {
        let run = try await Diagnosis.run(
            """
            add_host desk
            on desk mkdir -p -m 700 /run/home/data/pairtool /run/home/state
            on desk sh -c 'umask 022; echo "{\\"version\\":1,\\"sessions\\":{}}" >/run/home/data/pairtool/sessions.json'
            on desk mount -t tmpfs -o size=8m tmpfs /run/home/state
            examine desk
            on desk sh -c 'umask 077; rm /run/home/data/pairtool/sessions.json; echo broken >/run/home/data/pairtool/hosts.json'
            on desk dd if=/dev/zero of=/run/home/state/filling bs=64k 2>/dev/null
            again examine desk
            # A /dev of its own, with a camera; and a user who is nobody in particular.
            on desk mkdir /run/dev
            on desk cp -a /dev/null /dev/zero /dev/urandom /dev/random /dev/full /run/dev
            on desk mknod -m 660 /run/dev/video0 c 81 0
            on desk chgrp video /run/dev/video0
            on desk mount --bind /run/dev /dev
            on desk mkdir -m 755 /run/nobody
            on desk chown 65534 /run/nobody
            nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/run/nobody XDG_DATA_HOME= XDG_STATE_HOME=
                XDG_RUNTIME_DIR=/run/nobody)
            echo "== nobody"
            on desk "${nobody[@]}" "$PAIRTOOL" doctor --json
            echo "exit $?"
            """
        )
        let open = try run.examined("desk")
        #expect(open.status == 1 && open.problems == ["files"])
        #expect(open["files"]?.subject == "/run/home/data/pairtool/sessions.json")
        #expect(open["files"]?.evidence == "other users may use it (mode 644)")
        #expect(open["disk"]?.verdict == "warning" && open["disk"]?.subject == "/run/home/state/pairtool")
        let full = try run.examined("desk again")
        #expect(full.problems == ["files", "disk"])
        #expect(full["files"]?.subject == "/run/home/data/pairtool/hosts.json")
        #expect(full["disk"]?.evidence == "the disk is full: 0 bytes free")
        let nobody = try run.examined("nobody")
        #expect(nobody.status == 1 && nobody.problems == [])
        // The machine around it may have a firewall: then both see it.
        #expect(["ok", "note"].contains(nobody["firewall"]?.verdict), "it needs no rights")
        #expect(nobody["firewall"]?.verdict == full["firewall"]?.verdict)
        #expect(nobody["firewall"]?.evidence == full["firewall"]?.evidence)
        #expect(nobody["camera"]?.verdict == "warning")
        #expect(nobody["camera"]?.advice == "Join the group, then log in again: sudo usermod -aG video $USER")
    }
}

/// What the doctor said on the machines of a script.
enum Diagnosis {
    struct Row: Decodable, Sendable {
        var check: String
        var subject: String?
        var verdict: String
        var evidence: String
        var advice: String?
    }

    struct Examined: Sendable {
        var rows: [Row] = []
        var status: Int32 = -1

        /// The first finding of a check.
        subscript(check: String) -> Row? { rows.first { $0.check == check } }
        var problems: [String] { rows.filter { $0.verdict == "problem" }.map(\.check) }
    }

    struct Run: Sendable {
        var output: String
        var errors: String
        private let all: [String: Examined]

        init(_ run: LAN.Run) throws {
            (output, errors) = (run.output, run.errors)
            var all: [String: Examined] = [:]
            var name = ""
            for line in run.output.split(separator: "\n") {
                if line.hasPrefix("== ") {
                    name = String(line.dropFirst(3))
                    all[name] = Examined()
                } else if line.hasPrefix("exit ") {
                    all[name]?.status = Int32(line.dropFirst(5)) ?? -1
                } else if let row = try? JSONDecoder().decode(Row.self, from: Data(line.utf8)) {
                    all[name]?.rows.append(row)
                }
            }
            self.all = all
        }

        func examined(_ machine: String) throws -> Examined {
            try #require(all[machine], "\(output)\n\(errors)")
        }
    }

    /// What this machine lacks besides the LAN.
    static let missing = ["nft", "setpriv"].filter { tool in
        !["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
        }
    }

    /// Runs a script with two more functions: `examine MACHINE [ARGUMENT...]` has the doctor look at a machine, and
    /// `again examine …` does so once more, under the name `MACHINE again`.
    static func run(_ script: String) async throws -> Run {
        let functions = """
            more=
            examine() {
                echo "== $1$more"
                on "$1" "$PAIRTOOL" doctor --json "${@:2}" || { echo "exit $?"; return; }
                echo "exit 0"
            }
            again() {
                more="$more again"
                "$@"
            }

            """
        return try Run(try await LAN.run(functions + script))
    }
}
