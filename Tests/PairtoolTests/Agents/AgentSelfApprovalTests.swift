import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Testing

/// The built host and an agent that runs the built tool as its owner could: with the device of the same machine.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentSelfApprovalTests {
    private static let refusal = "n agent of this host asked for this"
    /// A host that was started again has another port, and is looked for here alone.
    private static let here = ["PAIRTOOL_INTERFACE": "lo", "PAIRTOOL_ENGINE": "embedded"]

    /// A command of the tool, as an agent would have its shell run it.
    private static func command(_ user: Sandbox, _ words: String...) -> String {
        let variables = user.environment.merging(here) { $1 }.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        return "env -i \(variables) \(BuiltTool.path) \(words.joined(separator: " ")) 2>&1"
    }

    /// Runs a host with an agent that does what its prompts say, and a user of it.
    private func withAgent(
        _ body: @escaping @Sendable (_ arguments: [String], _ host: Sandbox, _ user: Sandbox) async throws -> Void
    ) async throws {
        try await withProject { host, user in
            let agent = try FakeACPAgent.command(in: host.directory).joined(separator: " ")
            try await body(
                [
                    "--name", "Shed", "--project", host.directory + "/garden", "--agent-command", agent, "--acp",
                    "--qr-file", host.directory + "/qr.png",
                ],
                host,
                user
            )
        }
    }

    private static func question(_ events: HostEvents) async throws -> String {
        try #require(try await events.first("question_asked")["questionId"]?.string)
    }

    /// What the host refused to its agents.
    private static func refused(_ host: Sandbox) async throws -> [String] {
        let audit = try await host.run("host", "audit", "--json").json
        return audit.filter { $0["kind"] == .text("agent.refused") }.compactMap { $0["detail"]?["command"]?.string }
    }

    @Test("An agent neither answers with the owner's device nor pairs one of its own; the owner does both")
    func sameMachine() async throws {
        try await withAgent { arguments, host, user in
            try await withRunningHost(host, arguments) { events in
                try await user.pair(try await events.payload.text)
                async let sent = user.spawn(["send", "--new", "ask", "--json"])
                let id = try await Self.question(events)
                let answer = Self.command(user, "approvals", "approve", id)
                let attempt = try await user.spawn(["send", "--new", "shell \(answer)"])
                #expect(attempt.out.contains(Self.refusal), "\(attempt)")
                try await Sandbox.with { other in
                    let pair = Self.command(other, "pair", "--qr", host.directory + "/qr.png", "--interface", "lo")
                    let attempt = try await user.spawn(["send", "--new", "shell \(pair)"])
                    #expect(attempt.out.contains(Self.refusal), "\(attempt)")
                    #expect(try await host.run("host", "devices", "--json").json.count == 1)
                    let own = try await other.spawn(["pair", "--qr", host.directory + "/qr.png", "--interface", "lo"])
                    #expect(own.status == 0, "\(own)")
                }
                #expect(try await Self.refused(host) == ["approval.decide", "pairing/hello"])
                let own = try await user.spawn(["approvals", "approve", id])
                #expect(own.status == 0, "\(own)")
                #expect(try await sent.json.last?["answer"] == .text("chosen: y"))
            }
        }
    }

    @Test("What an agent has left behind, without its environment, is an agent's at the next host as well")
    func leftBehind() async throws {
        try await withAgent { arguments, host, user in
            let begun = try await host.pipe("begun")
            let go = try await host.pipe("go")
            let said = try await host.pipe("said")
            try await withDoomedHost(host, arguments) { events, _ in
                try await user.pair(try await events.payload.text)
                // It leaves its session, its parent and its environment, and waits for the next host. Its time is
                // limited: if the test ends before that, nobody writes to its pipe.
                let attempts = [
                    Self.command(user, "approvals", "approve", "$id"),
                    Self.command(host, "host", "approvals", "approve", "$id"),
                    Self.command(host, "host", "rules", "add", "allow", "--kind", "execute"),
                ]
                let script = """
                    echo begun >\(begun)
                    read -r id <\(go)
                    (\(attempts.joined(separator: "; "))) >\(said)
                    """
                let file = try host.file("left", Array(script.utf8))
                let leave = "env -i PATH=$PATH setsid -f timeout 290 sh \(file) </dev/null >/dev/null 2>&1; echo left"
                #expect(
                    try await user.spawn(["send", "--new", "shell \(leave)"], environment: Self.here).out.contains(
                        "left"
                    )
                )
                #expect(try await host.shell("cat '\(begun)'").out == "begun\n")
            }
            try await withRunningHost(host, arguments) { events in
                // A search ends before a busy machine has told of its host.
                _ = try await events.first("advertised")
                async let sent = user.spawn(["send", "--new", "ask", "--json"], environment: Self.here)
                let id = try await Self.question(events)
                #expect(try await host.shell("echo '\(id)' >'\(go)'").status == 0)
                // It ends when all attempts have.
                let text = try await host.shell("cat '\(said)'").out
                #expect(text.components(separatedBy: Self.refusal).count == 4, "\(text)")
                #expect(try await Self.refused(host) == ["approval.decide", "answer", "rule.add"])
                let own = try await user.spawn(["approvals", "approve", id], environment: Self.here)
                #expect(own.status == 0, "\(own)")
                #expect(try await sent.json.last?["answer"] == .text("chosen: y"))
            }
        }
    }

    @Test(
        "A host without root, which sees nothing of what pairtool has open, tells both apart as well",
        .enabled(if: geteuid() == 0 && isForAll(BuiltTool.path), "needs root, to become a user who may run the tool")
    )
    func hiddenProcesses() async throws {
        try await Sandbox.with { place in
            _ = try FakeACPAgent.command(in: place.directory)
            let script = """
                export PATH=/usr/bin:/bin SWIFT_BACKTRACE=enable=no PAIRTOOL_INTERFACE=lo PAIRTOOL_ENGINE=embedded HOME=$PWD
                tool='\(BuiltTool.path)'
                home() { echo "env XDG_DATA_HOME=$PWD/$1/data XDG_STATE_HOME=$PWD/$1/state XDG_RUNTIME_DIR=$PWD/$1/run $tool"; }
                mkdir garden
                $(home host) host --json --port 0 --project garden --qr-file q.png --agent-command "$1" --acp >events 2>err &
                host=$!
                until [ -s q.png ]; do kill -0 $host || exit 1; sleep 0.05; done
                ls /proc/$host/fd >/dev/null 2>&1 || echo hidden
                $(home user) pair --qr q.png -q >/dev/null
                $(home user) send --new ask >asked 2>&1 &
                sending=$!
                until id=$(grep -m1 -o '"questionId":"[^"]*"' events); do sleep 0.05; done
                id=${id##*:}; id=${id#?}; id=${id%?}
                $(home user) send --new "shell $(home user) approvals approve $id 2>&1" | grep -o -m1 'The host cannot tell'
                $(home user) approvals approve $id -q >/dev/null && echo approved
                wait $sending
                grep -o -m1 'chosen: y' asked
                # One that the agent leaves behind for the next host, and that nobody of the agent's has started then.
                mkfifo go
                echo "read -r id <go; setsid -f $(home user) approvals approve \\$id >said 2>&1" >left
                leave="env -i PATH=$PATH setsid -f timeout 280 sh left </dev/null >/dev/null 2>&1; echo left"
                $(home user) send --new "shell cd $PWD; $leave" | grep -o -m1 left
                # Into another file: until it is emptied, this one has the questions of the host before.
                kill -9 $host
                wait $host
                $(home host) host --json --port 0 --project garden --agent-command "$1" --acp >later 2>err &
                host=$!
                until grep -q '"advertised"' later; do kill -0 $host || exit 1; sleep 0.05; done
                $(home user) send --new ask >asked 2>&1 &
                sending=$!
                until id=$(grep -m1 -o '"questionId":"[^"]*"' later); do sleep 0.05; done
                id=${id##*:}; id=${id#?}; id=${id%?}
                echo $id >go
                until [ -s said ]; do sleep 0.05; done
                grep -o -m1 'The host cannot tell' said
                $(home user) approvals approve $id -q >/dev/null && echo approved
                wait $sending
                grep -o -m1 'chosen: y' asked
                kill $host
                wait $host
                """
            let outcome = try await place.shell(
                """
                work=$(mktemp -d /tmp/pt-user.XXXXXX)
                cp \(place.directory)/fake-agent.py $work
                cat >$work/script <<'end'
                \(script)
                end
                chown -R 65534:65534 $work
                (cd $work && setpriv --reuid 65534 --regid 65534 --clear-groups sh script "python3 $work/fake-agent.py $work")
                rm -rf $work
                """
            )
            let told = "The host cannot tell\napproved\nchosen: y\n"
            #expect(outcome.out == "hidden\n" + told + "left\n" + told, "\(outcome)")
        }
    }
}

/// Whether every user may run a program.
private func isForAll(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.indices.allSatisfy { index in
        let part = "/" + parts[...index].joined(separator: "/")
        return FileStatus(part).map { $0.permissions & 0o005 == 0o005 } ?? false
    }
}
