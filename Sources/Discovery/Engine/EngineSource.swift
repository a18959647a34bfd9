import Logging

/// Makes the engines that a choice wants: at first, and again whenever one is lost.
struct EngineSource: Sendable {
    /// A program at work on a connection of its engine.
    struct Running<Program: EngineProgram>: Sendable {
        var engine: any DiscoveryEngine
        var program: Program
        var events: EngineEvents
    }

    /// How long to wait for a bus or daemon that takes the connection but does not answer: libdbus itself sets no limit
    /// while it authenticates. A daemon that is well answers within milliseconds.
    private static let autoLimit = Duration.seconds(2)
    /// The same where there is nothing else to turn to: the bus may have to start the daemon.
    private static let daemonLimit = Duration.seconds(10)
    /// How often to look whether a daemon that has gone is back.
    private static let returnPause = Duration.seconds(5)

    let choice: DiscoveryEngineChoice
    let interface: String?
    /// Another domain than `local`, which only the daemon browses.
    let domain: String?
    let purpose: EmbeddedEngine.Purpose
    let logger: Logger
    private let lock = DaemonConnectionLock()

    init(
        choice: DiscoveryEngineChoice,
        interface: String?,
        domain: String? = nil,
        purpose: EmbeddedEngine.Purpose,
        logger: Logger
    ) {
        self.choice = choice
        self.interface = interface
        self.domain = domain
        self.purpose = purpose
        self.logger = logger
    }

    /// Chooses an engine and begins a program on it.
    ///
    /// - Parameter opening: The longest that the daemon may take to answer, if that is less than usual.
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``, ``DiscoveryError/Code/invalidInterface``.
    func begin<Program: EngineProgram>(
        _ program: Program,
        publishing services: [Advertisement.Service] = [],
        into output: AsyncStream<Program.Output>.Continuation,
        within opening: Duration? = nil
    ) async throws(DiscoveryError) -> Running<Program> {
        if let interface { _ = try indexOfInterface(interface) }
        if choice != .embedded {
            let daemon = DaemonEngine(interface: interface, domain: domain)
            do {
                let limit = choice == .auto ? Self.autoLimit : Self.daemonLimit
                let opened = try await daemon.open(within: min(limit, opening ?? limit), holding: lock)
                let begun = try await daemon.begin(program, on: opened, publishing: services, into: output)
                return Running(engine: daemon, program: begun, events: opened)
            } catch {
                guard choice == .auto, domain == nil else { throw Self.error(error, of: .daemon, choice: choice) }
                logger.debug("no Avahi daemon, using the embedded engine", metadata: ["reason": "\(error)"])
            }
        }
        guard domain == nil else {
            throw DiscoveryError(
                .domainUnsupported,
                message: "the embedded mDNS engine knows the local network only; other domains need the Avahi daemon"
            )
        }
        let embedded = EmbeddedEngine(interface: interface, purpose: purpose, logger: logger)
        do {
            let opened = try await embedded.open()
            let begun = try await embedded.begin(program, on: opened, publishing: services, into: output)
            return Running(engine: embedded, program: begun, events: opened)
        } catch {
            throw Self.error(error, of: .embedded, choice: choice)
        }
    }

    /// With the choice `auto`, no engine is left where the last one fails.
    private static func error(
        _ error: DiscoveryError,
        of engine: DiscoveryEngineKind,
        choice: DiscoveryEngineChoice
    ) -> DiscoveryError {
        var error = error
        error.engine = choice == .auto ? nil : engine
        return error
    }

    /// Runs a program that has begun until the task is cancelled. When its engine is lost, it goes on with what the
    /// choice then comes to, after pauses that grow as long as there is none.
    ///
    /// - Parameters:
    ///   - services: What the program publishes.
    ///   - output: Gets what the program emits; is finished at the end in any case.
    func run<Program: EngineProgram>(
        _ begun: Running<Program>,
        publishing services: [Advertisement.Service] = [],
        into output: AsyncStream<Program.Output>.Continuation
    ) async {
        defer { output.finish() }
        var begun = begun
        var backoff = ReconnectBackoff()
        var hadDaemon = false
        while true {
            let connectedAt = ContinuousClock.now
            let kind = begun.engine.kind
            hadDaemon = hadDaemon || kind == .daemon
            let reasons = reasons(toLeave: kind, hadDaemon: hadDaemon)
            let (program, loss) = await begun.engine.run(begun, until: reasons, publishing: services, into: output)
            begun.program = program
            guard let loss else { return }
            logger.debug("mDNS engine lost", metadata: ["engine": "\(kind.rawValue)", "error": "\(loss)"])
            for case .emit(let value) in begun.program.disconnected(loss) { output.yield(value) }
            if connectedAt.duration(to: .now) > ReconnectBackoff.stableAfter { backoff.reset() }
            guard let again = await beginAgain(begun.program, publishing: services, into: output, after: &backoff)
            else { return }
            begun = again
        }
    }

    /// Connects again, for as long as it takes. Returns nil when the task was cancelled.
    private func beginAgain<Program: EngineProgram>(
        _ program: Program,
        publishing services: [Advertisement.Service],
        into output: AsyncStream<Program.Output>.Continuation,
        after backoff: inout ReconnectBackoff
    ) async -> Running<Program>? {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: backoff.next())
            } catch {
                return nil
            }
            do {
                return try await begin(program, publishing: services, into: output)
            } catch {
                logger.debug("mDNS engine still away", metadata: ["error": "\(error)"])
            }
        }
        return nil
    }

    /// Returns the waits for events that make a connection useless without the engine's noticing.
    private func reasons(toLeave kind: DiscoveryEngineKind, hadDaemon: Bool) -> [LeaveReason] {
        // An advertisement stays where it is: see `CompanionDiscoveryClient.withAdvertisement`.
        guard purpose != .publish else { return [] }
        var reasons: [LeaveReason] = [
            { await SleepDetector.waitForSleep() }, { [interface] in await LinkDetector.waitForReturn(of: interface) },
        ]
        if choice == .auto, kind == .embedded, hadDaemon { reasons.append(daemonReturned) }
        return reasons
    }

    /// Waits until the daemon answers again. Returns nil when the task was cancelled.
    private func daemonReturned() async -> DiscoveryError? {
        while (try? await Task.sleep(for: Self.returnPause)) != nil {
            let daemon = DaemonEngine(interface: interface)
            guard (try? await daemon.open(within: Self.autoLimit, holding: lock)) != nil else { continue }
            await daemon.close()
            return DiscoveryError(.engineReplaced, message: "the Avahi daemon is back")
        }
        return nil
    }
}

/// Waits for what makes a connection useless; returns nil when the task was cancelled.
typealias LeaveReason = @Sendable () async -> DiscoveryError?

/// The pauses between attempts to reach an engine: 100 ms, doubled up to 5 s.
struct ReconnectBackoff: Sendable {
    /// After a connection that lasted this long, the pauses start over.
    static let stableAfter = Duration.seconds(10)

    private var pause = Duration.milliseconds(100)

    mutating func next() -> Duration {
        defer { pause = min(pause * 2, .seconds(5)) }
        return pause
    }

    mutating func reset() {
        self = ReconnectBackoff()
    }
}
