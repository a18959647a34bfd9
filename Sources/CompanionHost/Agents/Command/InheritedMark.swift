import Glibc
import NIOConcurrencyHelpers

/// A mark on everything that this program starts: a hard limit of file locks that is lower than the program's own was
/// (`RLIMIT_LOCKS`).
///
/// The kernel hands limits on to every child and every program (setrlimit(2)), and only root can raise a hard one
/// again. So the mark stays on a process that has cleared its environment and left its session, on whatever that one
/// starts, and after the end of this program. A list of processes would miss those that were started just before a host
/// was killed. Linux has ignored this limit since 2.4.25 (getrlimit(2)), so nothing else changes.
enum InheritedMark {
    /// The hard limit that this process had; nil as long as it marks nothing.
    private static let unmarked = NIOLockedValueBox<UInt64?>(nil)

    /// Marks this process, and with it all that it starts from now on. Works once.
    ///
    /// - Returns: Whether they are marked.
    @discardableResult
    static func begin() -> Bool {
        unmarked.withLockedValue { unmarked in
            guard unmarked == nil else { return true }
            let locks = __rlimit_resource_t(__RLIMIT_LOCKS.rawValue)
            var limit = rlimit()
            guard getrlimit(locks, &limit) == 0, limit.rlim_max > 0 else { return false }
            let own = limit.rlim_max
            let mark = own == .max ? 1 << 40 : own - 1
            limit = rlimit(rlim_cur: min(limit.rlim_cur, mark), rlim_max: mark)
            guard setrlimit(locks, &limit) == 0 else { return false }
            unmarked = UInt64(own)
            return true
        }
    }

    /// Whether a process has the mark of a host: this one, or an earlier one. Blocks.
    static func isOn(_ process: pid_t) -> Bool {
        guard process != getpid(), let unmarked = unmarked.withLockedValue(\.self) else { return false }
        return isMarked(ProcessTable.hardLimit(ofLocks: process), below: unmarked) { isOwn(process) }
    }

    /// Whether a limit is a mark. If it cannot be read (`hidepid`, a security module), a process that this user may
    /// have started has it: an agent must not get rid of its mark by what hides it. Those of other users cannot have
    /// been started by an agent, and cannot reach the owner's admin socket.
    ///
    /// - Parameters:
    ///   - limit: The hard limit; nil if it cannot be read.
    ///   - unmarked: The hard limit of a process without the mark.
    ///   - isOwn: Whether the process is there, and this user's.
    static func isMarked(_ limit: UInt64?, below unmarked: UInt64, isOwn: () -> Bool) -> Bool {
        guard let limit else { return isOwn() }
        return limit < unmarked
    }

    /// Whether a process is there, and may be sent signals: `/proc` may hide both. (kill(2))
    static func isOwn(_ process: pid_t) -> Bool {
        // The parent of one that comes from outside of a container has no number here.
        process > 0 && kill(process, 0) == 0
    }
}
