import CompanionWire
import HTTPTypes
import Hummingbird
import NIOCore

extension CompanionCommandRouter {
    func addTurnRoutes(to router: Router<HostRequestContext>) {
        add(.get, "/companion/chats/:id/turns/:turnId/events", to: router) { request, context in
            let device = try await admit(request, context)
            let number = try Self.lastEventID(request.headers[.lastEventID])
            let turnID = try context.parameter("turnId")
            guard try await isServed(turnID: turnID, chatID: context.parameter("id")) else {
                throw HostResponseError.turnUnknown
            }
            do {
                guard let frames = try await turns.log.reader(turnID: turnID, after: number) else {
                    throw HostResponseError.turnUnknown
                }
                return .turnEvents(frames, device: device, revocations: revocations, channel: context.channel)
            } catch is LastEventIDError {
                throw HostResponseError(.badRequest, HostErrorText.lastEventID)
            }
        }
    }

    /// The number of the last frame that a client has; 0 without a header.
    ///
    /// - Throws: 400 for anything that is no number of a frame.
    static func lastEventID(_ header: String?) throws(HostResponseError) -> Int {
        guard let header else { return 0 }
        let digits = header.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits, let number = Int(header) else {
            throw HostResponseError(.badRequest, HostErrorText.lastEventID)
        }
        return number
    }

    /// Whether there is such a turn in the chat, and the chat is not one of a project that is no longer listed.
    private func isServed(turnID: String, chatID: String) async throws -> Bool {
        guard try await turns.log.turn(id: turnID)?.chatId == chatID else { return false }
        let project = try await store.projectID(ofChat: chatID)
        return project.map { store.catalog.project(id: $0) != nil } ?? true
    }
}

extension HostResponseError {
    static let turnUnknown = HostResponseError(.notFound, HostErrorText.turnUnknown, code: .turnUnknown)
}

extension Response {
    private static var eventStreamHeaders: HTTPFields {
        [.contentType: "text/event-stream", .cacheControl: "no-cache", .connection: "keep-alive"]
    }

    /// The frames of an answer as v1 has them. `[DONE]` ends it, except after an error, where deployed hosts just close.
    static func eventStream(_ frames: TurnReader) -> Response {
        let body = ResponseBody { writer in
            var frames = frames
            defer { frames.close() }
            loop: while true {
                switch try await frames.next() {
                case .frames(let frames): try await writer.write(contentsOf: frames.map(\.data))
                case .heartbeat: break
                case .end(let outcome):
                    if outcome == .finished { try await writer.write(ByteBuffer(string: ContinueChatFrame.end)) }
                    break loop
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: eventStreamHeaders, body: body)
    }

    /// The numbered frames of a turn, with signs of life, ended by `[DONE]` in any case. (companion-v2, Streams)
    ///
    /// The connection is cut when the device's access ends.
    static func turnEvents(
        _ frames: TurnReader,
        device: AuthenticatedDevice,
        revocations: RevocationCenter,
        channel: any Channel
    ) -> Response {
        let body = ResponseBody { writer in
            var frames = frames
            try await withThrowingTaskGroup(of: Void.self) { [end = frames] group in
                group.addTask {
                    await revocations.wait(for: device)
                    // Also ends a write that waits for a slow client.
                    if !Task.isCancelled { channel.close(promise: nil) }
                    end.close()
                }
                defer { group.cancelAll() }
                while let buffers = try await frames.nextBytes() { try await writer.write(contentsOf: buffers) }
            }
            try await writer.write(ByteBuffer(string: ContinueChatFrame.end))
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: eventStreamHeaders, body: body)
    }
}

extension TurnReader {
    fileprivate static let comment = ByteBuffer(string: ": \n\n")

    /// What is to be sent next; nil at the end.
    fileprivate mutating func nextBytes() async throws -> [ByteBuffer]? {
        switch try await next() {
        case .frames(let frames): frames.map(\.bytes)
        case .heartbeat: [Self.comment]
        case .end: nil
        }
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
