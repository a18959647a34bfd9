package import FoundationEssentials
import Glibc
package import Identity
import LocalState
import PairingAgent

/// Prevents two turns from running in one chat at a time, because hosts mix up their answers.
///
/// The lock file also records when a turn began. The entry stays if the wait for the answer was stopped or the process
/// ended: the turn may still run at the host.
package struct TurnLock {
    /// The body leaves the rest of the answer to the host.
    package struct TurnLeft: Error {
        package init() {}
    }

    /// Another process uses the chat, or the host still answers its earlier prompt.
    package struct Taken: Error {
        package init() {}
    }

    private let descriptor: Int32

    /// Runs a body while it holds the lock of the chat.
    ///
    /// - Parameters:
    ///   - waits: Whether to wait for another process that uses the chat; else ``Taken`` is thrown.
    ///   - waitForEarlier: Called before the body if an earlier turn may still run at the host, with the time at which
    ///     that turn began.
    package static func with<R>(
        chatID: String,
        host: PairedHost,
        environment: AppEnvironment,
        waits: Bool = true,
        waitForEarlier: (Date) async throws -> Void,
        _ body: () async throws -> R
    ) async throws -> R {
        let path = "\(environment.paths.runtime)/turn-\(DeviceIdentity.shortHash("\(host.id) \(chatID)")).lock"
        let notice = "Another pairtool is using this chat. Waiting for its answer to end."
        let onWait = {
            guard waits else { throw Taken() }
            environment.interaction.say(notice)
        }
        return try await FileLock.with(path, onWait: onWait) { descriptor in
            let lock = TurnLock(descriptor: descriptor)
            if let begin = lock.unfinishedTurn { try await waitForEarlier(begin) }
            lock.mark(environment.now())
            do {
                let result = try await body()
                lock.mark(nil)
                return result
            } catch {
                // After a wait that was stopped or left, the turn still runs. After an error it has ended, or the error
                // says what may still run.
                if !Task.isCancelled, !(error is CancellationError), !(error is TurnLeft) { lock.mark(nil) }
                throw error
            }
        }
    }

    private var unfinishedTurn: Date? {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0, let seconds = Double(String(decoding: buffer.prefix(count), as: UTF8.self)) else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    private func mark(_ begin: Date?) {
        ftruncate(descriptor, 0)
        guard let begin else { return }
        let text = Array("\(Int(begin.timeIntervalSince1970))".utf8)
        _ = pwrite(descriptor, text, text.count, 0)
    }
}
