import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Matches the answers of a connection with the one command that waits.
///
/// Answers may come late, twice, or with an id that nobody knows: those belong to nothing and are dropped
/// (lumi, Response).
final class LumiInbox: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias Sink = AsyncThrowingStream<LumiAnswer, any Error>.Continuation

    /// How a connection ended.
    enum End: Error, Sendable {
        case closed
        /// - isFirst: Nothing that could be read had come before.
        case oversize(LumiFrameParser.Oversize, isFirst: Bool)
        /// A payload that is no answer.
        case unreadable(isFirst: Bool)
        case failed(any Error)
    }

    private struct State {
        var waiter: (id: UUID, sink: Sink)?
        var end: End?
        /// Whether an answer has come that could be read.
        var hasHeard = false
    }

    private let state = NIOLockedValueBox(State())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Gives the answer with this id to a sink, or the end of the connection.
    func expect(_ id: UUID, into sink: Sink) {
        let end = state.withLockedValue { state in
            if state.end == nil { state.waiter = (id, sink) }
            return state.end
        }
        if let end { sink.finish(throwing: end) }
    }

    /// Gives up on an answer. It may still come.
    func forget(_ id: UUID) {
        state.withLockedValue { if $0.waiter?.id == id { $0.waiter = nil } }
    }

    func fail(_ error: any Error) {
        end { _ in .failed(error) }
    }

    private func end(_ make: (_ isFirst: Bool) -> End) {
        let (sink, end) = state.withLockedValue { state in
            let end = state.end ?? make(!state.hasHeard)
            state.end = end
            defer { state.waiter = nil }
            return (state.waiter?.sink, end)
        }
        sink?.finish(throwing: end)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Here, on the connection's thread, so that a host that sends much is read no faster than that.
        let payload = Data(unwrapInboundIn(data).readableBytesView)
        guard let answer = try? JSONDecoder().decode(LumiAnswer.self, from: CompanionJSON.repaired(payload)) else {
            end { .unreadable(isFirst: $0) }
            return context.close(promise: nil)
        }
        let sink = state.withLockedValue { state -> Sink? in
            state.hasHeard = true
            guard let waiter = state.waiter, waiter.id == answer.id else { return nil }
            state.waiter = nil
            return waiter.sink
        }
        guard let sink else { return logger.debug("an answer that nobody waits for was dropped") }
        sink.yield(answer)
        sink.finish()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end { _ in .closed }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end { isFirst in
            (error as? LumiFrameParser.Oversize).map { .oversize($0, isFirst: isFirst) } ?? .failed(error)
        }
        context.close(promise: nil)
    }
}
