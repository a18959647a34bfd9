extension DiscoveryEngine {
    /// Carries out a program's first commands on a new connection before anything else gets a turn: the daemon is at
    /// work while the caller is still being told.
    ///
    /// - Parameter events: The events of the connection, none of which has been read.
    /// - Returns: The program after that.
    func begin<Program: EngineProgram>(
        _ program: Program,
        on events: EngineEvents,
        publishing services: [Advertisement.Service],
        into output: AsyncStream<Program.Output>.Continuation
    ) throws(DiscoveryError) -> Program {
        var program = program
        if let loss = perform(program.connected(to: kind), of: &program, publishing: services, into: output) {
            close()
            throw loss
        }
        do {
            try start()
        } catch {
            close()
            throw error
        }
        program.began()
        return program
    }

    /// Drives a program that has begun until the connection is lost or the task is cancelled, and disconnects.
    ///
    /// It runs on the engine's own executor, so that between an event of the engine and the program's commands there is
    /// one change of thread and no more.
    ///
    /// - Parameters:
    ///   - reasons: What else ends the connection. They are waited for at the same time.
    ///   - services: What the program publishes.
    ///   - output: Gets what the program emits.
    /// - Returns: The program after that, and why the connection ended; nil when the task was cancelled.
    func run<Program: EngineProgram>(
        _ begun: EngineSource.Running<Program>,
        until reasons: [LeaveReason],
        publishing services: [Advertisement.Service],
        into output: AsyncStream<Program.Output>.Continuation
    ) async -> (program: Program, loss: DiscoveryError?) {
        defer { close() }
        var program = begun.program
        let loss = await withTaskGroup(of: Void.self, returning: DiscoveryError?.self) { group in
            for reason in reasons {
                group.addTask { if let error = await reason() { await self.abandon(error) } }
            }
            defer { group.cancelAll() }
            return await drive(&program, on: begun.events, publishing: services, into: output)
        }
        return (program, loss)
    }

    /// Returns why the connection ended, or nil when the task was cancelled.
    private func drive<Program: EngineProgram>(
        _ program: inout Program,
        on events: EngineEvents,
        publishing services: [Advertisement.Service],
        into output: AsyncStream<Program.Output>.Continuation
    ) async -> DiscoveryError? {
        for await event in events {
            if case .lost(let error) = event { return error }
            if let loss = perform(program.handle(event), of: &program, publishing: services, into: output) {
                return loss
            }
        }
        return nil
    }

    /// Carries out commands, and those that their failures lead to. Returns an error if the engine is of no use any
    /// more.
    private func perform<Program: EngineProgram>(
        _ commands: [EngineCommand<Program.Output>],
        of program: inout Program,
        publishing services: [Advertisement.Service],
        into output: AsyncStream<Program.Output>.Continuation
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
}
