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
