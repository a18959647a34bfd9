import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore

/// The state of a ``FakeLumi``: its script, the commands that it was sent, and its connections.
final class FakeLumiState: Sendable {
    private struct Connection {
        var channel: any Channel
        var name: String?
        var pings = 0
        var isApproved = false
        /// An answer that is sent around that to the next command.
        var held: [UInt8]?
    }

    private struct Content {
        var script: FakeLumiScript
        var commands: [FakeLumi.Command] = []
        var made = 0
        var reads = 0
        var connections: [Int: Connection] = [:]
        var hasCrashed = false
        /// Nothing is answered any more.
        var hangs = false
    }

    /// All three keys are required, and all parameters are strings.
    private struct Wire: Decodable {
        var id: UUID
        var commandType: String
        var parameters: [String: String]
    }

    private struct Answer: Encodable {
        var id: UUID
        var success: Bool
        var result: String
        var error: String?
        var imageData: String?
    }

    /// More output of a shell than this hangs the Mac (lumi, `run_shell_command`).
    private static let mostOutput = 64 << 10

    let gates = Gates()
    private let content: NIOLockedValueBox<Content>

    init(script: FakeLumiScript) {
        content = NIOLockedValueBox(Content(script: script))
    }

    var script: FakeLumiScript { content.withLockedValue(\.script) }
    var commands: [FakeLumi.Command] { content.withLockedValue(\.commands) }
    var connections: Int { content.withLockedValue(\.made) }

    func change(_ body: (inout FakeLumiScript) -> Void) {
        content.withLockedValue { body(&$0.script) }
    }

    func connect(_ channel: any Channel) -> Int {
        let (number, hasCrashed) = content.withLockedValue { content in
            content.connections[content.made] = Connection(channel: channel)
            content.made += 1
            return (content.made - 1, content.hasCrashed)
        }
        if hasCrashed { channel.close(promise: nil) }
        return number
    }

    func disconnect(_ number: Int) {
        content.withLockedValue { $0.connections[number] = nil }
        gates.open("left \(number + 1)")
    }

    func noteRead() {
        let count = content.withLockedValue { content in
            content.reads += 1
            return content.reads
        }
        gates.open("read \(count)")
    }

    /// The app ends, and all connections with it.
    func crash() {
        let channels = content.withLockedValue { content in
            content.hasCrashed = true
            return content.connections.values.map(\.channel)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Returns the actions that follow from a payload: none if it is not a command.
    func actions(for payload: [UInt8], connection number: Int) -> [FakeLumiAction] {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: Data(payload)) else { return [] }
        let (actions, superseded) = content.withLockedValue { content -> ([FakeLumiAction], [any Channel]) in
            guard var connection = content.connections[number] else { return ([], []) }
            content.commands.append(
                FakeLumi.Command(
                    name: wire.commandType,
                    parameters: wire.parameters,
                    isApproved: connection.isApproved
                )
            )
            var superseded: [any Channel] = []
            let reply: FakeLumiReply?
            if wire.commandType == "ping" {
                connection.name = wire.parameters["device_name"]
                // A name belongs to one connection: the other one is cancelled.
                superseded = content.connections.filter { $0.key != number && $0.value.name == connection.name }
                    .map(\.value.channel)
                connection.pings += 1
                reply = content.script.answerPing(wire.parameters, pings: connection.pings)
                if reply?.result == "pong" { connection.isApproved = true }
            } else {
                reply = content.script.answer(wire.commandType, wire.parameters)
            }
            defer { content.connections[number] = connection }
            if let reply, wire.commandType == "run_shell_command", reply.result.utf8.count > Self.mostOutput {
                content.hangs = true
            }
            guard !content.hangs else { return ([], superseded) }
            guard let reply else { return ([.close], superseded) }
            let frame = Self.frame(reply, id: wire.id)
            let fault = content.script.takeFault(for: wire.commandType)
            if case .withNext? = fault?.kind {
                connection.held = frame
                return ([], superseded)
            }
            var actions = Self.actions(frame, fault?.kind, id: wire.id)
            if let held = connection.held {
                actions = [.write(held)] + actions + [.write(held)]
                connection.held = nil
            }
            return (actions, superseded)
        }
        for channel in superseded { channel.close(promise: nil) }
        return actions
    }

    private static func actions(_ frame: [UInt8], _ fault: FakeLumiFault.Kind?, id: UUID) -> [FakeLumiAction] {
        switch fault {
        case nil: [.write(frame)]
        case .silence?, .withNext?: []
        case .bytes(let bytes)?: [.write(bytes)]
        case .payload(let text)?:
            [.write(Self.frame(Array(text.replacing("ID", with: id.uuidString).utf8)))]
        case .drip?: frame.map { .write([$0]) }
        case .split(let count)?: [.write(Array(frame.prefix(count))), .write(Array(frame.dropFirst(count)))]
        case .strangerFirst?:
            [.write(Self.frame(FakeLumiReply(result: "a stranger's"), id: UUID())), .write(frame)]
        case .twice?: [.write(frame), .write(frame)]
        case .hold(let gate)?: [.hold(gate), .write(frame)]
        case .close?: [.close]
        case .reset?: [.reset]
        }
    }

    private static func frame(_ reply: FakeLumiReply, id: UUID) -> [UInt8] {
        let answer = Answer(
            id: id,
            success: reply.error == nil,
            result: reply.error == nil ? reply.result : "",
            error: reply.error,
            imageData: reply.data.map { Data($0).base64EncodedString() }
        )
        // As Macs do, it escapes slashes and writes ids in upper case.
        return frame(Array((try? JSONEncoder().encode(answer)) ?? Data()))
    }

    private static func frame(_ payload: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(payload.count).bigEndian) { Array($0) } + payload
    }
}
