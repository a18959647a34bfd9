import Logging

extension DiscoveryEngine {
    /// Connects, and carries out a program's first commands before anything else gets a turn: the daemon is at work
    /// while the caller is still being told.
    ///
    /// - Parameter opened: The events of the connection, if there is one already.
    /// - Returns: The program after that, and the events that ``run(_:from:publishing:into:logger:)`` goes on with.
    func begin<Program: EngineProgram>(
        _ program: Program,
        opened: AsyncStream<EngineEvent>? = nil,
        publishing services: [Advertisement.Service] = [],
        into output: AsyncStream<Program.Output>.Continuation
    ) throws(DiscoveryError) -> (program: Program, events: AsyncStream<EngineEvent>) {
        var program = program
        let events = if let opened { opened } else { try open() }
        if let loss = perform(program.connected(), of: &program, services, output) {
            close()
            throw loss
        }
        return (program, events)
    }

    /// Runs a program that has begun until the task is cancelled; connects again, with growing pauses, when the engine
    /// is lost.
    ///
    /// It runs on the engine's own executor, so that between an event of the engine and the program's commands there is
    /// one change of thread and no more.
    ///
    /// - Parameters:
    ///   - program: The program, and the events of its connection, as ``begin(_:publishing:into:)`` has returned them.
    ///   - services: What the program publishes.
    ///   - output: Gets what the program emits; is finished at the end in any case.
    func run<Program: EngineProgram>(
        _ program: Program,
        from events: AsyncStream<EngineEvent>,
        publishing services: [Advertisement.Service] = [],
        into output: AsyncStream<Program.Output>.Continuation,
        logger: Logger
    ) async {
        defer {
            close()
            output.finish()
        }
        var (program, events) = (program, events)
        var backoff = ReconnectBackoff()
        while true {
            let connectedAt = ContinuousClock.now
            guard let loss = await drive(&program, events, services, output) else { return }
            close()
            logger.debug("mDNS engine lost", metadata: ["engine": "\(kind.rawValue)", "error": "\(loss)"])
            for case .emit(let value) in program.disconnected(loss) { output.yield(value) }
            if connectedAt.duration(to: .now) > ReconnectBackoff.stableAfter { backoff.reset() }
            guard let again = await beginAgain(program, services, output, &backoff, logger) else { return }
            (program, events) = again
        }
    }

    /// Drives one connection. Returns why it ended, or nil when the task was cancelled.
    private func drive<Program: EngineProgram>(
        _ program: inout Program,
        _ events: AsyncStream<EngineEvent>,
        _ services: [Advertisement.Service],
        _ output: AsyncStream<Program.Output>.Continuation
    ) async -> DiscoveryError? {
        for await event in events {
            if case .lost(let error) = event { return error }
            if let loss = perform(program.handle(event), of: &program, services, output) { return loss }
        }
        return nil
    }

    /// Carries out commands, and those that their failures lead to. Returns an error if the engine is of no use any more.
    private func perform<Program: EngineProgram>(
        _ commands: [EngineCommand<Program.Output>],
        of program: inout Program,
        _ services: [Advertisement.Service],
        _ output: AsyncStream<Program.Output>.Continuation
    ) -> DiscoveryError? {
        var batch = commands
        while !batch.isEmpty {
            var next: [EngineCommand<Program.Output>] = []
            for command in batch {
                switch command {
                case .emit(let value):
                    output.yield(value)
                case .browse(let type):
                    do { try browse(type) } catch { return error }
                case .resolve(let instance):
                    do { try resolve(instance) } catch { next += program.handle(.resolveFailed(instance)) }
                case .release(let instance):
                    release(instance)
                case .retry(let instance, let pause):
                    retry(instance, after: pause)
                case .wake(let pause):
                    wake(after: pause)
                case .ask(let instance):
                    ask(instance)
                case .publish(let name):
                    do {
                        try publish(services, name: name)
                    } catch {
                        next += program.handle(error.code == .nameCollision ? .nameCollision : .publishFailed(error))
                    }
                case .withdraw:
                    withdraw()
                case .renameHost:
                    renameHost()
                case .reconnect(let error):
                    return error
                }
            }
            batch = next
        }
        return nil
    }

    /// Connects again, for as long as it takes. Returns nil when the task was cancelled.
    private func beginAgain<Program: EngineProgram>(
        _ program: Program,
        _ services: [Advertisement.Service],
        _ output: AsyncStream<Program.Output>.Continuation,
        _ backoff: inout ReconnectBackoff,
        _ logger: Logger
    ) async -> (Program, AsyncStream<EngineEvent>)? {
        while true {
            do {
                try await Task.sleep(for: backoff.next())
            } catch {
                return nil
            }
            do {
                return try begin(program, publishing: services, into: output)
            } catch {
                logger.debug("mDNS engine still away", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// The pauses between attempts to reach an engine: 100 ms, doubled up to 5 s.
struct ReconnectBackoff: Sendable {
    /// A connection that lasted this long starts the pauses anew.
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
