import CompanionWire
import FoundationEssentials
import Glibc
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Subprocess
import SystemPackage

/// A connection to a port of another machine, made by the user's `ssh` with the user's configuration, agent and jump
/// hosts. It never asks: there is no terminal.
struct SSHConnection: Sendable {
    private static let program = "ssh"

    let route: SSHRoute
    let logger: Logger

    /// Runs a body with the connection. `ssh` ends with it.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable`` with what `ssh` said, in pairtool's words; any error of
    ///   `body`.
    func run(_ body: @escaping @Sendable (Tunnel.Pipe) async throws -> Void) async throws {
        let (near, far) = try Self.socketPair()
        let pipe: Tunnel.Pipe
        do {
            pipe = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .withConnectedSocket(near) { channel in
                    channel.eventLoop.makeCompletedFuture { try Tunnel.pipe(over: channel) }
                }
        } catch {
            try? far.close()
            throw error
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body(pipe)
                return false
            }
            group.addTask {
                try await launch(over: far)
                return true
            }
            defer { group.cancelAll() }
            // What ssh says counts more than that the connection ended.
            var failure: (any Error)?
            while let ending = await group.nextResult() {
                switch ending {
                case .success(let isProgram): if isProgram, failure == nil { continue } else { return }
                case .failure(let error):
                    guard error is CompanionClientError || failure != nil else {
                        failure = error
                        continue
                    }
                    throw error is CompanionClientError ? error : failure ?? error
                }
            }
            if let failure { throw failure }
        }
    }

    private static func socketPair() throws -> (near: CInt, far: SystemPackage.FileDescriptor) {
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw CompanionClientError(.unreachable, message: "No socket can be made.", delivery: .notSent)
        }
        return (ends[0], SystemPackage.FileDescriptor(rawValue: ends[1]))
    }

    /// The words after `ssh`.
    var arguments: [String] {
        // No question can be answered, and the program speaks to the host and to nobody else.
        var words = ["-T", "-o", "BatchMode=yes", "-W", "127.0.0.1:\(route.hostPort)"]
        if let user = route.user { words += ["-l", user] }
        if let port = route.machine.port { words += ["-p", "\(port)"] }
        return words + ["--", route.machine.connectName]
    }

    private func launch(over socket: SystemPackage.FileDescriptor) async throws {
        var options = PlatformOptions()
        // Without a terminal: neither ssh nor its helpers can ask there.
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))
        ]
        let said = NIOLockedValueBox<[UInt8]>([])
        let status: TerminationStatus
        do {
            status = try await Subprocess.run(
                .name(Self.program),
                arguments: Arguments(arguments),
                environment: .inherit.updating(["SSH_ASKPASS_REQUIRE": "never"]),
                platformOptions: options,
                input: .fileDescriptor(socket, closeAfterSpawningProcess: false),
                output: .fileDescriptor(socket, closeAfterSpawningProcess: true),
                error: .sequence
            ) { execution in
                for try await piece in execution.standardError {
                    let bytes = piece.withUnsafeBytes { Array($0) }
                    said.withLockedValue { $0 = Array(($0 + bytes).suffix(8 << 10)) }
                }
            }
            .terminationStatus
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw CompanionClientError(
                .unreachable,
                message: "ssh is not installed (sudo apt install openssh-client).",
                delivery: .notSent,
                underlying: error
            )
        }
        let text = String(decoding: said.withLockedValue(\.self), as: UTF8.self)
        logger.debug("ssh ended", metadata: ["route": "\(route)", "status": "\(status)", "said": "\(text)"])
        guard !status.isSuccess, !Task.isCancelled else { return }
        throw CompanionClientError(
            .unreachable,
            message: SSHComplaint(text).message(about: route),
            delivery: .unknown
        )
    }
}
