import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import GRDB
import Testing

@testable import CompanionHost

/// Rules that were changed in the database, as an agent with the rights of its user could.
@Suite("Rules and their rows in the audit", .timeLimit(.minutes(15)))
struct RuleAuditTests {
    /// Runs a host with an agent that asks.
    private func withAgent(_ directory: String, _ body: (TestHost) async throws -> Void) async throws {
        let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
        try await withHost(in: directory, configure: { $0.agent = .acp(launch) }) { host in
            try await host.pair()
            try await body(host)
        }
    }

    /// Changes the database behind the host's back.
    private func tamper(_ directory: String, _ sql: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        try DatabaseQueue(path: directory + "/state/host.sqlite", configuration: configuration).write {
            try $0.execute(sql: sql)
        }
    }

    private func add(_ rule: AgentRule, to host: TestHost) async -> AgentRule? {
        var request = AdminRequest(.addRule)
        request.rule = rule
        return await host.server.administration.answer(request).rules?.first
    }

    private func list(_ host: TestHost) async -> AdminResponse {
        await host.server.administration.answer(AdminRequest(.rules))
    }

    @Test("A rule without its row in the audit is not used, and the owner is told once")
    func foreign() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(directory) { host in
                #expect(await add(AgentRule(effect: .allow, kind: "read"), to: host)?.id == 1)
                try tamper(directory, "INSERT INTO agentRule (effect, kind) VALUES ('allow', 'execute')")
                async let reply = host.ask("ask-here", model: "fake")
                let id = try await host.event { if case .questionAsked(let question) = $0 { question.id } else { nil } }
                var answer = AdminRequest(.answer)
                (answer.question, answer.approve) = (id, false)
                #expect(await host.server.administration.answer(answer).ok)
                #expect(try await reply.answer == "chosen: n")
                let response = await list(host)
                #expect(response.rules?.map(\.id) == [1])
                #expect(
                    response.ruleFaults == [
                        "Rule 2 (allow execute) is not used, because the audit does not say that you added it. "
                            + "To remove it: pairtool host rules remove 2"
                    ]
                )
                let rows = try await host.server.administration.audit.rows().filter { $0.kind == "rule.ignored" }
                #expect(rows.map { $0.detail["rule"]?.integer } == [2])
                var remove = AdminRequest(.removeRule)
                remove.rule = AgentRule(id: 2, effect: .ask)
                #expect(await host.server.administration.answer(remove).rules?.first?.kind == "execute")
                #expect(await list(host).ruleFaults == nil)
            }
        }
    }

    @Test(
        "A rule that was changed or deleted in the database counts as its owner added it, also after a restart",
        arguments: [
            "UPDATE agentRule SET effect = 'allow'", "DELETE FROM agentRule", "UPDATE agentRule SET kind = 'x'",
        ]
    )
    func changed(sql: String) async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(directory) { host in
                #expect(await add(AgentRule(effect: .deny, kind: "execute"), to: host)?.id == 1)
                try tamper(directory, sql)
                #expect(try await host.ask("ask-here", model: "fake").answer == "chosen: n")
            }
            try await withAgent(directory) { host in
                let rows = try await host.server.administration.audit.rows().filter { $0.kind == "rule.ignored" }
                #expect(rows.count == 2, "once for each run of the host")
                let fault = try #require(await list(host).ruleFaults?.first)
                #expect(fault.hasPrefix("Rule 1 (deny execute) was "), "\(fault)")
                #expect(try await host.ask("ask-here", model: "fake").answer.hasSuffix("chosen: n"))
                var remove = AdminRequest(.removeRule)
                remove.rule = AgentRule(id: 1, effect: .ask)
                #expect(await host.server.administration.answer(remove).rules?.first?.effect == .deny)
                let response = await list(host)
                #expect(response.rules == [] && response.ruleFaults == nil)
            }
        }
    }

    @Test("A rule that its owner removed does not come back with its old row")
    func removed() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(directory) { host in
                #expect(await add(AgentRule(effect: .allow, kind: "execute"), to: host)?.id == 1)
                var remove = AdminRequest(.removeRule)
                remove.rule = AgentRule(id: 1, effect: .ask)
                #expect(await host.server.administration.answer(remove).rules?.count == 1)
                try tamper(directory, "INSERT INTO agentRule (number, effect, kind) VALUES (1, 'allow', 'execute')")
                let response = await list(host)
                #expect(response.rules == [] && response.ruleFaults?.count == 1)
            }
        }
    }
}
