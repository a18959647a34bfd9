import Testing

/// What takes long for its waits: each of these runs beside all others, not after the other ones of its kind.
@Suite(
    "Other networks, over bad lines and bad relays",
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct BadReachTests {
    @Test(
        "A slow line, or one with losses, through a relay carries an answer",
        arguments: ["loss 2% delay 200ms", "delay 900ms"]
    )
    func slowLine(_ line: String) async throws {
        let run = try await LAN.run(
            ReachTests.relayed + """
                netem relay \(line)
                host
                pair desk
                on desk "$PAIRTOOL" send --new --project garden "show README.md" || fail "no answer"
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Roses and beans."), "\(run.output)\(run.errors)")
    }

    @Test(
        "A relay that changes, drops, repeats and invents what it can learns nothing and has nothing done; each is noticed, or harmless"
    )
    func hostileRelay() async throws {
        let run = try await LAN.run(
            ReachTests.networks + """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $LAN/keys/key -out $LAN/keys/cert \
                    -days 10 -subj /CN=relay 2>/dev/null
                cat $LAN/keys/key $LAN/keys/cert >$LAN/own.pem
                shed() { on shed env XDG_DATA_HOME=$LAN/shed "$PAIRTOOL" "$@"; }
                desk() { on desk env XDG_DATA_HOME=$LAN/desk "$PAIRTOOL" "$@"; }
                joined() { shed host status --json | grep -q '"joined"'; }
                relay() {
                    start relay $PYTHON $SUPPORT/relay.py 10.77.0.1 22067 $LAN/own.pem $1 $LAN/shed/pairtool/host \
                        $LAN/desk/pairtool >$LAN/relay.out 2>&1
                    relay_pid=$!
                    wait_for_line ready $LAN/relay.out
                    wait_until joined
                }
                start shed env XDG_DATA_HOME=$LAN/shed "$PAIRTOOL" host --lan --name Shed --project $LAN/garden \
                    --relay relay://10.77.0.1:22067 --json --show-secrets --engine embedded --qr-file $LAN/qr.png >$LAN/host.out
                wait_for_line '"challenge"' $LAN/host.out
                relay none
                desk pair --qr $LAN/qr.png --name desk -q >&2 || fail "not paired"
                for what in inject drop repeat reorder cut invent lie; do
                    kill -9 $relay_pid
                    relay $what
                    desk send --new --project garden "list" >&2
                    echo "$what: $?"
                done
                kill -9 $relay_pid
                relay none
                sent() { desk send --new --project garden "show README.md"; }
                wait_until sent
                # What was cut off before its prompt was through has left a chat without one.
                for chat in $(desk chats garden -q); do
                    [ "$(desk messages $chat --json | grep -c '"role":"user"')" -le 1 ] || fail "a prompt came twice"
                done
                shed host audit --json | grep -o '"kind":"[a-z.]*"' | sort -u
                shed host status --json | grep -o '"devices":[0-9]*'
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        for what in ["inject", "drop", "repeat", "reorder", "cut", "invent", "lie"] {
            // Done, too late, out of reach, or cut off: never something else.
            #expect(["0", "4", "10", "14"].contains { lines.contains("\(what): \($0)") }, "\(what): \(run.output)")
        }
        #expect(lines.contains { $0.contains("Roses and beans.") }, "\(run.output)\(run.errors)")
        let kinds = lines.filter { $0.hasPrefix("\"kind\"") }
        #expect(kinds == ["\"kind\":\"device.reached\"", "\"kind\":\"pairing.paired\""], "\(kinds)")
        #expect(lines.last == "\"devices\":1")
    }
}
