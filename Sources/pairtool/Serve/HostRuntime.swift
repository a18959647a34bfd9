import CompanionHost
import Discovery
import Glibc
import HostOwner
import NIOConcurrencyHelpers
import ServiceLifecycle
import Terminal

/// Runs a host: its server, its advertisement and its screen. A signal shuts them down in order.
struct HostRuntime: Sendable {
    let server: CompanionBridgeServer
    let admin: AdminServer
    let advertiser: HostAdvertiser
    let screen: HostScreen

    func run() async throws {
        do {
            try await serve()
        } catch {
            // Show the reason first, then that the host has ended.
            throw ExitRequest(await screen.end(after: error))
        }
        await screen.end()
    }

    private func serve() async throws {
        let (ports, portFound) = AsyncStream.makeStream(of: (plain: Int, secure: Int).self)
        let services = ServiceGroup(services: [server, admin], logger: LoggingSetup.logger("lifecycle"))
        let wasAsked = NIOLockedValueBox(false)
        let stop: Interrupts.Handler = { _ in
            let again = wasAsked.withLockedValue { asked in
                defer { asked = true }
                return asked
            }
            // A second signal does not wait for a tidy end.
            if again { ExitCleanup.exit(.interrupted) }
            Task { await services.triggerGracefulShutdown() }
            return true
        }
        try await Interrupts.shared.withHandler(stop) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await show(portFound) }
                group.addTask { await advertise(on: ports) }
                group.addTask { try await screen.keepTime() }
                if screen.takesKeys { group.addTask { await takeKeys() } }
                // The server ends on a signal or an error; the other tasks end with it.
                defer { group.cancelAll() }
                try await services.run()
            }
        }
    }

    private func takeKeys() async {
        await TypedKeys.each { key in
            guard await screen.asksForCode(key) else { return }
            _ = await server.administration.startPairing(ttlSeconds: nil, grant: nil)
        }
    }

    private func show(_ portFound: AsyncStream<(plain: Int, secure: Int)>.Continuation) async {
        defer { portFound.finish() }
        for await event in server.events {
            if case .listening(let plain, let secure) = event { portFound.yield((plain, secure)) }
            await screen.show(event, devices: server.administration.devices())
        }
    }

    /// Advertises the port once it is known. If that fails, the host goes on: users can still connect to its address.
    private func advertise(on ports: AsyncStream<(plain: Int, secure: Int)>) async {
        for await port in ports {
            do {
                try await advertiser.run(port: port.plain, tlsPort: port.secure) { await screen.show($0) }
            } catch is CancellationError {
                return
            } catch {
                await screen.showAdvertisingFailed(error)
            }
        }
    }
}
