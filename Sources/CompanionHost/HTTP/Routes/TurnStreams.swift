import CompanionWire
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// The frames of an answer as v1 has them. `[DONE]` ends it, except after an error, where deployed hosts just
    /// close.
    static func eventStream(_ frames: TurnReader, until access: StreamAccess) -> Response {
        stream(frames, until: access) { item in
            switch item {
            case .frames(let frames): (frames.filter(\.isOfV1).map(\.data), false)
            case .heartbeat: ([], false)
            case .end(.finished): ([ByteBuffer(string: TurnFrames.end)], true)
            case .end: ([], true)
            }
        }
    }

    /// The numbered frames of a turn, with signs of life, ended by `[DONE]` in any case. (companion-v2, Streams)
    ///
    /// - Parameter hasACP: Whether frames in the agent's own words are sent, too.
    static func turnEvents(
        _ frames: TurnReader,
        until access: StreamAccess,
        isOfV1: Bool,
        hasACP: Bool
    ) -> Response {
        stream(frames, until: access) { item in
            switch item {
            case .frames(let frames):
                (frames.filter { (!isOfV1 || $0.isOfV1) && (hasACP || !$0.isACP) }.map(\.bytes), false)
            case .heartbeat: ([ByteBuffer(staticString: ": \n\n")], false)
            case .end: ([ByteBuffer(string: TurnFrames.end)], true)
            }
        }
    }

    /// A turn's frames. The connection is cut when the access ends that they were asked for with.
    ///
    /// - Parameter write: Returns the bytes that are sent for an item, and whether it is the last.
    private static func stream(
        _ frames: TurnReader,
        until access: StreamAccess,
        write: @escaping @Sendable (TurnReader.Item) -> (buffers: [ByteBuffer], isLast: Bool)
    ) -> Response {
        let body = ResponseBody { writer in
            var frames = frames
            try await withThrowingTaskGroup(of: Void.self) { [end = frames] group in
                group.addTask {
                    defer { end.close() }
                    // Also ends a write that waits for a slow client.
                    if await access.hasEnded() { access.channel.close(promise: nil) }
                }
                defer { group.cancelAll() }
                while true {
                    let (buffers, isLast) = write(try await frames.next())
                    if !buffers.isEmpty { try await writer.write(contentsOf: buffers) }
                    if isLast { break }
                }
                try await writer.finish(nil)
            }
        }
        let headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-cache", .connection: "keep-alive",
        ]
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// The access that a stream was asked for with, and the connection that ends with it.
struct StreamAccess: Sendable {
    /// The time that a stream of v1 has for its last frame, which says why it ends. (Revocation leaves a second.)
    private static let grace = Duration.milliseconds(500)

    let device: AuthenticatedDevice
    let revocations: RevocationCenter
    let channel: any Channel

    /// Returns when the connection is to be cut, or when the task is cancelled.
    ///
    /// - Returns: Whether it is to be cut.
    func hasEnded() async -> Bool {
        guard await revocations.wait(for: device) != nil else { return false }
        // Where the access of v1 ends its turns end too, and clients of v1 hear of it by a frame or never.
        if device.protocolVersion < 2 { try? await Task.sleep(for: Self.grace) }
        return !Task.isCancelled
    }
}
