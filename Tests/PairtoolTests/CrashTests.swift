import CompanionClient
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import PairingAgent
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// A host that is killed at any moment (SIGKILL) has the state of before or after what it was doing, and nothing between.
///
/// The moments are random, from the first byte to well after the last: over the runs they fall into every step.
@Suite(.serialized) struct CrashTests {
    private static let runs = 50

    /// Runs a host that dies by SIGKILL when `body` returns.
    private func withDoomedHost<R: Sendable>(
        _ host: Sandbox,
        _ body: @escaping @Sendable (HostEvents, _ kill: @escaping @Sendable () throws -> Void) async throws -> R
    ) async throws -> R {
        try await Subprocess.run(
            .path(FilePath(BuiltTool.path)),
            arguments: [
                "host", "--json", "--show-secrets", "--port", "0", "--engine", "embedded", "--project",
                host.directory + "/garden",
            ],
            environment: host.processEnvironment([:]),
            input: .none,
            output: .sequence,
            error: .discarded
        ) { process in
            let events = HostEvents()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // The last line of a killed process may be half a one.
                    for try await line in process.standardOutput.strings() { try? await events.take(line) }
                    await events.end()
                }
                let result = try await body(events) { try process.send(signal: .kill) }
                try process.send(signal: .kill)
                try await group.waitForAll()
                return result
            }
        }.closureResult
    }

    /// Kills at a random moment while something is done.
    private func during<R: Sendable>(
        _ longest: Duration,
        kill: @escaping @Sendable () throws -> Void,
        _ work: () async throws -> R
    ) async throws -> R {
        let moment = longest * Double.random(in: 0...1)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await ContinuousClock().sleep(for: moment)
                try kill()
            }
            let result = try await work()
            try await group.waitForAll()
            return result
        }
    }

    private func pair(_ user: Sandbox, _ events: HostEvents) async throws -> Sandbox.Result {
        let code = try await events.payload.code
        let port = try await events.ports.secure
        return try await user.spawn(
            ["pair", "--url", "https://127.0.0.1:\(port)", "--code-stdin", "--json"],
            stdin: code + "\n"
        )
    }

    /// What the host's owner sees after a restart.
    private func devices(_ host: Sandbox) async throws -> [[String: JSONValue]] {
        let listed = try await host.spawn(["host", "devices", "--json"])
        #expect(listed.status == 0, "\(listed.err)")
        let audit = try await host.spawn(["host", "audit", "--verify", "--json"])
        #expect(audit.status == 0, "\(audit)")
        return try listed.json
    }

    /// The paired host of a user at the port that it has now.
    private func withClient<R>(
        _ user: Sandbox,
        _ events: HostEvents,
        credentials: (PairedCredentials) throws -> any DeviceCredentials = { $0 },
        _ body: (CompanionAPIClient) async throws -> R
    ) async throws -> R {
        let store = PairedHostStore(directory: user.directory + "/data/pairtool")
        let record = try #require(try store.load().hosts.first)
        let endpoint = try await CompanionEndpoint(address: record.endpoint.address, port: events.ports.secure)
        var context = CommandContext.process
        context.environment = user.environment
        return try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: record.security(),
            credentials: credentials(PairedCredentials(host: record, context: context)),
            // The killed host does not come back at its port.
            configuration: CompanionClientConfiguration(retries: .init(count: 0)),
            body
        )
    }

    @Test("Killed while a device pairs, the host knows it afterwards or does not", .timeLimit(.minutes(10)))
    func pairing() async throws {
        try await withProject { host, first in
            let (paired, longest) = try await withDoomedHost(host) { events, _ in
                _ = try await (events.payload, events.ports)
                let started = ContinuousClock.now
                return (try await pair(first, events), started.duration(to: .now))
            }
            #expect(paired.status == 0, "\(paired)")
            var outcomes: Set<String> = []
            // On a machine that gets busier, later moments are needed for some to come after the end.
            var reach = longest
            for _ in 0..<Self.runs {
                try await Sandbox.with { user in
                    let latest = reach
                    let result = try await withDoomedHost(host) { events, kill in
                        _ = try await (events.payload, events.ports)
                        return try await during(latest, kill: kill) { try await pair(user, events) }
                    }
                    reach = result.status == 0 ? longest : min(latest * 1.2, longest * 10)
                    let directory = user.directory + "/data/pairtool"
                    let id = try SecureKeyStore(directory: directory).load()?.deviceID
                    let isKnown = try await withDoomedHost(host) { events, _ in
                        _ = try await events.ports
                        let known = try await devices(host).first { $0["id"]?.string == id }
                        if result.status == 0 {
                            // What a device was told is kept: it comes in, and its session is the one that it got.
                            #expect(known != nil, "\(result)")
                            let projects = try await withClient(user, events) { try await $0.projects() }
                            #expect(projects.count == 1)
                        }
                        if let known {
                            #expect(known["permissions"] == .list(CompanionPermission.all.map { .text($0.rawValue) }))
                        }
                        return known != nil
                    }
                    outcomes.insert("\(result.status == 0) \(isKnown)")
                }
            }
            #expect(outcomes.isSuperset(of: ["true true", "false false"]), "moments before and after: \(outcomes)")
        }
    }

    @Test("Killed during a command, the host has executed it once or not at all", .timeLimit(.minutes(10)))
    func command() async throws {
        try await withProject { host, user in
            let paired = try await withDoomedHost(host) { events, _ in try await pair(user, events) }
            #expect(paired.status == 0, "\(paired)")
            var outcomes: Set<Bool> = []
            for run in 0..<Self.runs {
                let prepared = Prepared()
                let title = "run \(run)"
                let answered = try await withDoomedHost(host) { events, kill -> CommandResponse? in
                    try await withClient(user, events, credentials: { prepared.over($0) }) { client in
                        let project = try #require(try await client.projects().first)
                        // A command takes some milliseconds.
                        return try await during(.milliseconds(20), kill: kill) {
                            try? await client.execute(.chatCreate(projectID: project.id, title: title))
                        }
                    }
                }
                // The same bytes once more: they are what was executed, or are executed now.
                let (again, chats) = try await withDoomedHost(host) { events, _ in
                    try await withClient(user, events, credentials: { prepared.over($0) }) { client in
                        let project = try #require(try await client.projects().first)
                        let response = try await client.execute(.chatCreate(projectID: project.id, title: title))
                        return (response, try await client.chats(projectID: project.id))
                    }
                }
                #expect(chats.filter { $0.title == title }.count == 1)
                #expect(chats.count == run + 1)
                if let answered {
                    #expect(again.replayed)
                    #expect(again.result == answered.result)
                }
                outcomes.insert(answered != nil)
            }
            #expect(outcomes == [true, false], "moments before and after")
        }
    }
}

/// Signs one command once: every later signature is the same bytes.
private final class Prepared: Sendable {
    private let body = NIOLockedValueBox<[UInt8]?>(nil)

    func over(_ credentials: PairedCredentials) -> any DeviceCredentials {
        Credentials(base: credentials, prepared: self)
    }

    private struct Credentials: DeviceCredentials {
        let base: PairedCredentials
        let prepared: Prepared

        func sessionToken() throws -> String? { try base.sessionToken() }
        func keep(_ grant: SessionGrant) throws { try base.keep(grant) }
        func sessionRequest(now: Date) throws -> [UInt8] { try base.sessionRequest(now: now) }

        func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
            try prepared.body.withLockedValue { body in
                if let body { return body }
                let signed = try base.signedCommand(payload, id: id, now: now)
                body = signed
                return signed
            }
        }
    }
}
