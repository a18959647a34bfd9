import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// Hosts and devices in networks that do not reach each other, with a real relay between, and a laptop that moves.
@Suite(
    "Other networks",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct ReachTests {
    /// A machine for a relay in the middle, and a host and a device behind a router each.
    static let networks = """
        add_host relay
        add_router home
        add_router office
        add_behind shed home
        add_behind desk office
        mkdir $LAN/garden $LAN/keys
        echo "Roses and beans." >$LAN/garden/README.md

        """

    /// A relay in the middle, and a host behind one router that has joined it. `$ID` and `$RELAY` are its host's and its
    /// own; `pair NAME` pairs a machine by the QR code.
    static let relayed =
        networks + """
            relay() {
                start relay strelaysrv -pools "" -status-srv "" -listen 10.77.0.1:22067 -keys $LAN/keys >$LAN/relay.out 2>&1
                relay_pid=$!
                wait_for_line 'relay://' $LAN/relay.out
            }
            host() {
                start shed "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --relay "$RELAY" --json --show-secrets \\
                    --engine embedded --qr-file $LAN/qr.png "$@" >$LAN/host.out 2>&1
                host_pid=$!
                wait_for_line '"challenge"' $LAN/host.out
                wait_until joined
            }
            joined() { on shed "$PAIRTOOL" host status --json | grep -q '"joined"'; }
            # An agent whose answer are the beds of `beds FIRST LAST`, as they come; `end_beds` ends it.
            mkfifo $LAN/beds
            exec 5<>$LAN/beds
            cat >$LAN/listed <<END
            #!/bin/sh
            cat >/dev/null
            while read -r line && [ "\\$line" != end ]; do echo "\\$line"; done <$LAN/beds
            END
            chmod 755 $LAN/listed
            beds() { seq -f 'bed %g' $1 $2 >&5; }
            end_beds() { echo end >&5; }
            pair() {
                # Beside other load, the ten seconds of the default are short for a relay.
                on $1 "$PAIRTOOL" pair --qr $LAN/qr.png --name $1 --timeout 60s -q >&2 || fail "$1 is not paired"
            }
            relay
            RELAY=$(sed -n 's/.*\\(relay:[^ ]*\\).*/\\1/p' $LAN/relay.out | head -n 1 | sed 's/0\\.0\\.0\\.0/10.77.0.1/')

            """

    @Test("Two networks behind routers: paired by the QR code, and used, through a relay; neither reaches the other")
    func twoRouters() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                host
                pair desk
                on desk "$PAIRTOOL" send --new --project garden "show README.md" || fail "no answer"
                on desk "$PAIRTOOL" status --json | grep -o '"via":"[a-z]*"'
                on shed "$PAIRTOOL" host devices --json | grep -o '"via":"[a-z]*"'
                on desk timeout 3 sh -c 'exec 3<>/dev/tcp/192.168.77.2/7879' 2>/dev/null && fail "the networks are one"
                true
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Roses and beans."), "\(run.output)\(run.errors)")
        #expect(
            run.output.split(separator: "\"via\":\"relay\"", omittingEmptySubsequences: false).count == 3,
            "\(run.output)"
        )
    }

    @Test("A relay that ends and comes back while an answer is followed costs no event")
    func relayRestart() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                host --agent-command $LAN/listed
                pair desk
                start desk "$PAIRTOOL" send --new --project garden "which beds" >$LAN/answer 2>$LAN/notes
                answer_pid=$!
                beds 1 2
                wait_for_line 'bed 2' $LAN/answer
                kill -9 $relay_pid
                beds 3 6
                wait_for_line 'resum\\|broke\\|closed' $LAN/notes
                relay
                wait_for_line 'bed 6' $LAN/answer
                beds 7 12
                end_beds
                wait $answer_pid || fail "the answer was given up: $(cat $LAN/notes)"
                cat $LAN/answer
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        let beds = run.output.split(separator: "\n").filter { $0.hasPrefix("bed ") }
        #expect(beds.map(String.init) == (1...12).map { "bed \($0)" }, "\(run.output)\(run.errors)")
    }

    @Test("A laptop that leaves the host's network and comes back during an answer misses nothing")
    func movingLaptop() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                host --agent-command $LAN/listed
                add_behind laptop home 3
                on laptop "$PAIRTOOL" pair --url https://192.168.77.2:7879 --qr $LAN/qr.png -q >&2 || fail "not paired"
                on laptop "$PAIRTOOL" projects -q >&2 || fail "no projects"
                start laptop "$PAIRTOOL" send --new --project garden "which beds" >$LAN/answer 2>$LAN/notes
                answer_pid=$!
                beds 1 2
                wait_for_line 'bed 2' $LAN/answer
                move_behind laptop office 3
                beds 3 5
                wait_for_line 'via relay' $LAN/notes
                beds 6 9
                wait_for_line 'bed 9' $LAN/answer
                move_behind laptop home 3
                beds 10 12
                wait_for_line 'directly again' $LAN/notes
                beds 13 16
                end_beds
                wait $answer_pid || fail "the answer was given up: $(cat $LAN/notes)"
                cat $LAN/answer
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        let beds = run.output.split(separator: "\n").filter { $0.hasPrefix("bed ") }
        #expect(beds.map(String.init) == (1...16).map { "bed \($0)" }, "\(run.output)\(run.errors)")
    }

    @Test("Questions are answered, changes are shown, and an editor works, all through a relay")
    func everythingElse() async throws {
        try await Sandbox.with { sandbox in
            let agent = try FakeACPAgent.command(in: sandbox.directory).joined(separator: " ")
            let editor = try FakeEditor.command(in: sandbox.directory, agent: []).joined(separator: " ")
            let steps: [JSONValue] = [
                ["call", "initialize", ["protocolVersion": 1]],
                ["call", "session/new", ["cwd": "/home/none/garden", "mcpServers": []]],
                [
                    "call", "session/prompt",
                    ["sessionId": "$session", "prompt": [["type": "text", "text": "say from afar"]]],
                ],
            ]
            let typed = steps.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: "\n")
            let run = try await LAN.run(
                Self.relayed + """
                    git -C $LAN/garden -c init.defaultBranch=main init -q
                    git -C $LAN/garden add . && git -C $LAN/garden -c user.name=A -c user.email=a@b commit -qm one
                    host --acp --agent-command "\(agent)"
                    pair desk
                    start desk "$PAIRTOOL" send --new --project garden ask >$LAN/asked 2>&1
                    asking=$!
                    asks() { on desk "$PAIRTOOL" approvals -q >$LAN/question && [ -s $LAN/question ]; }
                    wait_until asks
                    on desk "$PAIRTOOL" approvals approve "$(cat $LAN/question)" >&2 || fail "not approved"
                    wait $asking || fail "no answer: $(cat $LAN/asked)"
                    cat $LAN/asked
                    on desk "$PAIRTOOL" send --new --project garden 'shell echo Lilies >>README.md' >&2 || fail "not changed"
                    on desk "$PAIRTOOL" changes "$(on desk "$PAIRTOOL" chats garden -q | head -n 1)" --no-pager
                    cat >$LAN/steps <<'END'
                    \(typed)
                    END
                    on desk \(editor) "$PAIRTOOL" acp --project garden <$LAN/steps
                    on shed "$PAIRTOOL" host devices --json
                    """
            )
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("chosen: y"), "\(run.output)\(run.errors)")
            #expect(run.output.contains("+Lilies"), "\(run.output)\(run.errors)")
            #expect(run.output.contains("from afar") && run.output.contains("end_turn"), "\(run.output)\(run.errors)")
            #expect(run.output.contains("\"via\":\"relay\""), "\(run.output)")
        }
    }

    @Test("A device that calls as often as it can is held at its limit, and another one does not notice")
    func flood() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                export PAIRTOOL_LOG=info
                host
                unset PAIRTOOL_LOG
                pair desk
                add_behind other office 3
                two() { [ "$(grep -c '"challenge"' $LAN/host.out)" -gt 1 ]; }
                wait_until two
                pair other
                flood() { while on desk "$PAIRTOOL" projects -q >&2; do echo taken; done; }
                flood >$LAN/calls &
                wait_for_line tooOften $LAN/host.out 120
                on other "$PAIRTOOL" send --new --project garden "show README.md" || fail "the other one is held too"
                grep -c taken $LAN/calls
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Roses and beans."), "\(run.output)\(run.errors)")
        // Not held as soon as it has as many connections as it may have open at a time: those end with each command.
        let taken = run.output.split(separator: "\n").last.flatMap { Int($0) } ?? 0
        #expect(taken > 20, "\(run.output)\(run.errors)")
    }

    @Test("A relay that comes back with another certificate is not used any more, and both sides say so")
    func otherCertificate() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                host
                pair desk
                on desk "$PAIRTOOL" projects -q >&2 || fail "no projects"
                kill -9 $relay_pid
                rm $LAN/keys/*
                relay
                refuses() { on shed "$PAIRTOOL" host status --json | grep -q 'another id'; }
                wait_until refuses
                on desk "$PAIRTOOL" send --new --project garden "list"
                echo "sent: $?"
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "sent: 10\n", "\(run.output)\(run.errors)")
        #expect(run.errors.contains("another id than its address has"), "\(run.errors)")
    }

    @Test("A host with two relays is reached by the other when one ends")
    func twoRelays() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                mkdir $LAN/keys2
                start relay strelaysrv -pools "" -status-srv "" -listen 10.77.0.1:22068 -keys $LAN/keys2 >$LAN/relay2.out 2>&1
                wait_for_line 'relay://' $LAN/relay2.out
                SECOND=$(sed -n 's/.*\\(relay:[^ ]*\\).*/\\1/p' $LAN/relay2.out | head -n 1 | sed 's/0\\.0\\.0\\.0/10.77.0.1/')
                host --relay "$SECOND"
                both() { [ "$(on shed "$PAIRTOOL" host status --json | grep -o '"joined"' | wc -l)" = 2 ]; }
                wait_until both
                pair desk
                on desk "$PAIRTOOL" projects -q >&2 || fail "no projects"
                on desk "$PAIRTOOL" hosts routes -q
                kill -9 $relay_pid
                on desk "$PAIRTOOL" send --new --project garden "show README.md" || fail "the second relay is of no use"
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("22067") && run.output.contains("22068"), "\(run.output)")
        #expect(run.output.contains("Roses and beans."), "\(run.output)\(run.errors)")
    }

    @Test("What passes a relay has no name, word or code of either side in it")
    func nothingLearnt() async throws {
        let run = try await LAN.run(
            Self.relayed + """
                host
                code=$(sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1)
                on relay $PYTHON $SUPPORT/record.py eth0 $LAN/packets &
                wait_until test -e $LAN/packets
                pair desk
                on desk "$PAIRTOOL" send --new --project garden "show README.md" >&2 || fail "no answer"
                [ "$(stat -c %s $LAN/packets)" -gt 10000 ] || fail "nothing was recorded"
                for word in Roses README garden Shed desk "$code" companion Bearer chat; do
                    grep -qaF "$word" $LAN/packets && echo "the relay has seen “$word”"
                done
                true
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "", "\(run.output)")
    }

    @Test("A host that listens on its own machine only is paired with and used over ssh, from behind a router")
    func ssh() async throws {
        let run = try await LAN.run(
            """
            add_host shed
            add_router office
            add_behind desk office
            mkdir $LAN/garden $LAN/bin
            echo "Roses and beans." >$LAN/garden/README.md
            for name in server user; do ssh-keygen -q -t ed25519 -N '' -f $LAN/$name; done
            echo "10.77.0.1 $(cut -d ' ' -f 1,2 $LAN/server.pub)" >$LAN/known
            printf '%s\n' "HostKey $LAN/server" 'PidFile none' 'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' \
                "AuthorizedKeysFile $LAN/user.pub" >$LAN/sshd_config
            printf '%s\n' "IdentityFile $LAN/user" "UserKnownHostsFile $LAN/known" >$LAN/ssh_config
            printf '%s\\n' '#!/bin/sh' 'exec /usr/bin/ssh -F $LAN/ssh_config "$@"' >$LAN/bin/ssh
            chmod 755 $LAN/bin/ssh
            on shed mkdir -p /run/sshd
            start shed /usr/sbin/sshd -D -e -f $LAN/sshd_config 2>$LAN/sshd.out
            wait_for_line 'listening on' $LAN/sshd.out
            start shed "$PAIRTOOL" host --name Shed --project $LAN/garden --json --show-secrets --engine embedded \
                --qr-file $LAN/qr.png >$LAN/host.out 2>&1
            wait_for_line '"challenge"' $LAN/host.out
            desk() { on desk env PATH=$LAN/bin:$PATH "$PAIRTOOL" "$@"; }
            on desk timeout 3 sh -c 'exec 3<>/dev/tcp/10.77.0.1/7879' 2>/dev/null && fail "it listens on the network"
            desk pair --url ssh://10.77.0.1 --qr $LAN/qr.png -q >&2 || fail "not paired: $(cat $LAN/sshd.out)"
            desk send --new --project garden "show README.md" || fail "no answer"
            desk status --json | grep -o '"via":"[a-z]*"'
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Roses and beans.") && run.output.contains("\"via\":\"ssh\""), "\(run.output)")
    }

    @Test("The machines of a Tailscale network that answer as hosts are listed, where mDNS does not reach")
    func tailscale() async throws {
        let run = try await LAN.run(
            """
            add_host shed
            add_host desk
            add_host other
            for machine in shed=7 desk=8 other=9; do
                on ${machine%=*} ip address add 100.64.0.${machine#*=}/24 dev eth0
            done
            mkdir $LAN/garden
            start shed "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json >$LAN/host.out 2>&1
            wait_for_line '"listening"' $LAN/host.out
            block_multicast shed
            start desk $PYTHON $SUPPORT/tailscale.py $LAN/tailscale.sock shed=100.64.0.7 other=100.64.0.9 -gone=100.64.0.10
            wait_until test -S $LAN/tailscale.sock
            on desk env TS_SOCKET=$LAN/tailscale.sock "$PAIRTOOL" discover --json
            on desk "$PAIRTOOL" discover --json --timeout 2s
            echo "without: $?"
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: LAN.Host.self)
        #expect(rows.map(\.name) == ["shed"], "\(run.output)\(run.errors)")
        #expect(rows.first?.addresses.contains { $0.address == "100.64.0.7" && $0.port == 7879 } == true)
        #expect(run.output.hasSuffix("without: 3\n"), "\(run.output)")
    }
}
