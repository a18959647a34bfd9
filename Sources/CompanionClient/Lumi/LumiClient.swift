package import CompanionWire
import FoundationEssentials
package import Logging
import NIOCore
import NIOPosix

/// One connection to a Lumi host. It carries one command at a time, and never reconnects by itself.
package actor LumiClient {
    /// The host's address and port.
    package nonisolated let endpoint: CompanionEndpoint
    package nonisolated let configuration: LumiConfiguration
    nonisolated let clock: any Clock<Duration>
    /// The host's generation; nil until the host has accepted the connection.
    package internal(set) var generation: LumiGeneration?

    let channel: any Channel
    private let inbox: LumiInbox
    private var isBusy = false
    /// Those who wait for their turn.
    private var queue: [AsyncStream<Never>.Continuation] = []

    private init(
        endpoint: CompanionEndpoint,
        configuration: LumiConfiguration,
        clock: any Clock<Duration>,
        channel: any Channel,
        inbox: LumiInbox
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.clock = clock
        self.channel = channel
        self.inbox = inbox
    }

    /// Runs a body with a connection, and closes it behind it.
    ///
    /// - Parameters:
    ///   - clock: Passes the time between two questions for approval.
    /// - Throws: ``CompanionClientError`` with the codes `refusedAddress` and `unreachable`; what the body throws.
    package static func withClient<R>(
        endpoint: CompanionEndpoint,
        configuration: LumiConfiguration = .default,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "lumi-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        try endpoint.requireLocal()
        let inbox = LumiInbox(logger: logger)
        let channel: any Channel
        do {
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(configuration.connect))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            ByteToMessageHandler(LumiFrameDecoder()), inbox,
                        ])
                    }
                }
            channel = try await bootstrap.channelOption(.socketOption(.tcp_nodelay), value: 1)
                .connect(host: endpoint.connectName, port: endpoint.port).get()
        } catch {
            throw CompanionClientError.transport(
                error,
                endpoint: endpoint,
                answered: false,
                timeouts: .init(connect: configuration.connect)
            )
        }
        let client = LumiClient(
            endpoint: endpoint,
            configuration: configuration,
            clock: clock,
            channel: channel,
            inbox: inbox
        )
        defer { channel.close(promise: nil) }
        return try await body(client)
    }

    /// Sends a command and waits for its answer, whatever that says.
    ///
    /// - Throws: ``CompanionClientError``: `notPaired` where the host has not accepted the connection yet (nothing is
    ///   sent then), `timedOut`, `unreachable`, `badAnswer`, `tooLarge`, `notACompanion`.
    func exchange(_ request: LumiRequest) async throws -> LumiAnswer {
        guard generation != nil || request.command == LumiRequest.pingCommand else {
            throw CompanionClientError(
                .notPaired,
                message: "\(endpoint) has not accepted this connection; nothing was sent.",
                delivery: .notSent
            )
        }
        try await takeTurn()
        defer { endTurn() }
        let command = LumiCommand(commandType: request.command, parameters: request.parameters)
        let frame: ByteBuffer
        do {
            frame = try LumiFrameParser.frame(JSONEncoder().encode(command))
        } catch is LumiFrameParser.Oversize {
            throw CompanionClientError(
                .tooLarge,
                message: "The command is too large for \(endpoint).",
                delivery: .notSent
            )
        }
        let (answers, sink) = AsyncThrowingStream<LumiAnswer, any Error>.makeStream()
        inbox.expect(command.id, into: sink)
        defer { inbox.forget(command.id) }
        let limit = configuration.limit(request.pace)
        let (channel, inbox) = (channel, inbox)
        do {
            return try await within(limit) {
                // Not waited for: a host that does not read would be waited for without a limit.
                channel.writeAndFlush(frame).whenFailure(inbox.fail)
                for try await answer in answers { return answer }
                throw CancellationError()
            }
        } catch is TimeLimitExceeded {
            throw CompanionClientError(
                .timedOut,
                message: "\(endpoint) did not answer within \(limit.forPeople).",
                delivery: .unknown
            )
        } catch let end as LumiInbox.End {
            throw CompanionClientError.lumi(end, endpoint: endpoint)
        }
    }

    /// Sends a command and takes its answer for granted.
    ///
    /// - Throws: As ``exchange(_:)`` does; `hostError` with the host's text where the command failed there,
    ///   `unsupportedVersion` where the host does not know it.
    @discardableResult
    package func perform(_ request: LumiRequest) async throws -> LumiAnswer {
        let answer = try await exchange(request)
        guard answer.success else { throw CompanionClientError.lumi(refusal: answer, endpoint: endpoint) }
        return answer
    }

    private func takeTurn() async throws {
        while isBusy {
            let (stream, continuation) = AsyncStream<Never>.makeStream()
            queue.append(continuation)
            for await _ in stream {}
            // All who waited are woken, so one that gives up takes no turn with it.
            try Task.checkCancellation()
        }
        isBusy = true
    }

    private func endTurn() {
        isBusy = false
        let waiting = queue
        queue = []
        for continuation in waiting { continuation.finish() }
    }
}

/// Tells and asks the user while a connection waits to be accepted.
package struct LumiApprovalDelegate: Sendable {
    /// Called before each second of waiting, with the seconds that are left at most.
    package var waiting: @Sendable (_ secondsLeft: Int) -> Void
    /// Gives the six digits that the Mac shows; nil where nobody can be asked.
    package var code: @Sendable (_ isRepeated: Bool) async throws -> String?

    /// By default, tells the user nothing and gives no digits.
    package init(
        waiting: @escaping @Sendable (_ secondsLeft: Int) -> Void = { _ in },
        code: @escaping @Sendable (_ isRepeated: Bool) async throws -> String? = { _ in nil }
    ) {
        self.waiting = waiting
        self.code = code
    }
}

extension LumiClient {
    /// Asks the host to accept the connection, and waits for it.
    ///
    /// - Parameter deviceName: What the Mac's user is shown. Another connection with this name is cancelled by the Mac.
    /// - Throws: ``CompanionClientError``: `forbidden` where the Mac's user refused, `timedOut` where they said
    ///   nothing, `badRequest` for a wrong code or none, and as every command does.
    package func requestApproval(
        deviceName: String,
        delegate: LumiApprovalDelegate = LumiApprovalDelegate()
    ) async throws -> LumiGeneration {
        var approval = LumiApproval()
        var action = approval.start()
        while true {
            switch action {
            case .ping(let code):
                action = approval.handle(try await ping(deviceName: deviceName, code: code))
            case .pause(let left):
                delegate.waiting(left)
                try await clock.sleep(for: LumiApproval.pause)
                action = approval.handle(.paused)
            case .askForCode(let isRepeated):
                action = approval.handle(.code(try await delegate.code(isRepeated)))
            case .ready(let generation):
                self.generation = generation
                return generation
            case .fail(let failure):
                throw error(failure)
            }
        }
    }

    /// Sends a ping and returns the result as an event. Throws failures other than silence and the end of the
    /// connection.
    private func ping(deviceName: String, code: String?) async throws -> LumiApproval.Event {
        do {
            return .answered(try await exchange(.ping(deviceName: deviceName, code: code)))
        } catch let error as CompanionClientError where error.code == .timedOut {
            return .silence
        } catch let error as CompanionClientError where error.code == .unreachable {
            return .closed
        }
    }

    private func error(_ failure: LumiApproval.Failure) -> CompanionClientError {
        switch failure {
        case .rejected:
            CompanionClientError(.forbidden, message: "The connection was refused on \(endpoint).")
        case .unanswered:
            CompanionClientError(
                .timedOut,
                message: "Nobody accepted the connection on \(endpoint) within \(LumiApproval.mostAsks) seconds."
            )
        case .silent:
            CompanionClientError(
                .timedOut,
                message: "\(endpoint) did not answer within \(configuration.ping.forPeople).",
                delivery: .unknown
            )
        case .closed:
            CompanionClientError(
                .unreachable,
                message: "\(endpoint) closed the connection before it answered.",
                delivery: .unknown
            )
        case .noCode:
            CompanionClientError(.badRequest, message: "\(endpoint) needs the six digits that it shows.")
        case .wrongCode:
            CompanionClientError(.badRequest, message: "\(endpoint) rejected all codes.")
        case .unknownAnswer(let text):
            CompanionClientError(
                .badAnswer,
                message: "\(endpoint) answered in a way that no known Lumi host does.",
                hostText: text
            )
        }
    }
}
