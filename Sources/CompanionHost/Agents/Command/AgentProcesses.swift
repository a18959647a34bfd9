import CLinux
import CompanionWire
import Dispatch
import Glibc
import Identity
import LocalState
import Logging
import NIOConcurrencyHelpers

/// All processes that one run of an agent's command has started, so that they end with it: also those that left the
/// command's session (`setsid`) and their parent (a double fork).
///
/// A process belongs to the run when its environment has the run's mark, when it is in the command's session or
/// process group, or when it descends from one that belongs. A program whose children can only be agents' (see
/// ``adoptOrphans()``) also ends those that have cleared their environment, and knows those of earlier hosts.
final class AgentProcesses: Sendable {
    /// The variable that marks the processes of a run.
    static let variable = "PAIRTOOL_AGENT_RUN"

    private struct Run: Sendable {
        var mark: [UInt8]
        var startedAt: UInt64
        var leader: pid_t?
    }

    private struct Registry: Sendable {
        var adoptsOrphans = false
        var runs: [String: Run] = [:]
    }

    private struct State: Sendable {
        /// The processes that have been sent SIGTERM.
        var told: Set<pid_t> = []
        /// When the processes that are left are killed.
        var endBefore: ContinuousClock.Instant?
    }

    private static let registry = NIOLockedValueBox(Registry())

    /// The mark of this run: a random value of ``variable``.
    let mark = Base64URL.encode(SecureRandom.bytes(16))
    private let state = NIOLockedValueBox(State())

    init() {
        let run = Run(
            mark: Array("\(Self.variable)=\(mark)".utf8),
            // A tick early: the two clocks are read at different times.
            startedAt: max(BootClock.ticks, 1) - 1
        )
        Self.registry.withLockedValue { $0.runs[mark] = run }
    }

    deinit {
        Self.registry.withLockedValue { _ = $0.runs.removeValue(forKey: mark) }
    }

    /// Makes this process the parent of its orphaned descendants (PR_SET_CHILD_SUBREAPER), has orphans ended with the
    /// run that they come from, and marks all that this process starts (``InheritedMark``). For a program whose
    /// children are agents and nothing else.
    static func adoptOrphans() {
        InheritedMark.begin()
        guard pairtool_adopt_orphans() == 0 else { return }
        registry.withLockedValue { $0.adoptsOrphans = true }
    }

    /// The processes that belong to a run of any agent of this program, and those that an earlier host has left.
    /// Blocks.
    static func ofAgents() -> Set<pid_t> {
        let registry = registry.withLockedValue { $0 }
        let marked = ProcessTable.now().entries.map(\.id).filter(InheritedMark.isOn)
        // Whose orphan a process is makes no difference here.
        return registry.runs.values.reduce(into: Set(marked)) { all, run in
            all.formUnion(members(of: run, others: [], adoptsOrphans: registry.adoptsOrphans).map(\.id))
        }
    }

    /// Notes the command itself, which leads a session of its own.
    func lead(_ leader: pid_t) {
        Self.registry.withLockedValue { $0.runs[mark]?.leader = leader }
    }

    /// Ends the processes that are left as soon as the command itself has ended.
    ///
    /// - Parameter descriptor: The command's process descriptor (pidfd_open(2)); negative where the kernel gives none.
    /// - Returns: The watch, to be cancelled at the end of the run; nil without a descriptor.
    func endsWithLeader(_ descriptor: CInt, grace: Duration) -> (any DispatchSourceRead)? {
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: own, queue: .global())
        source.setEventHandler { [self] in
            // With its process group, which nobody else tells.
            _ = signalLeft()
            end(within: grace)
            source.cancel()
        }
        source.setCancelHandler { close(own) }
        source.resume()
        return source
    }

    /// Sends SIGTERM to the processes of the run, and kills those that are left after a while. The command's own group
    /// gets its SIGTERM elsewhere. Returns at once.
    ///
    /// - Parameter grace: How long they may take.
    func end(within grace: Duration) {
        let isFirst = state.withLockedValue { state in
            guard state.endBefore == nil else { return false }
            state.endBefore = .now + grace
            return true
        }
        guard isFirst else { return }
        // The command's own group gets SIGTERM from the code that started it.
        _ = signalLeft(sparesGroup: true)
        // What holds the command's output open keeps the run from ending: this does not wait for it.
        let milliseconds = Int(grace / .milliseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self] in
            _ = signalLeft()
        }
    }

    /// Ends all that is left of the run, once its command has ended. Returns when it is gone, or cannot be ended.
    ///
    /// - Parameter grace: How long it may take, where ``end(within:)`` has not begun it already.
    /// - Returns: How many processes are left, because they may not be ended; that is also logged.
    @discardableResult
    func ended(within grace: Duration, logger: Logger) async -> Int {
        let left = await ended(within: grace)
        if left > 0 {
            logger.error(
                "processes of the agent cannot be ended",
                metadata: .event("host", outcome: "failed", ["processes": "\(left)"])
            )
        }
        return left
    }

    private func ended(within grace: Duration) async -> Int {
        let end = state.withLockedValue { state in
            if state.endBefore == nil { state.endBefore = .now + grace }
            return state.endBefore ?? .now
        }
        // Orphans of runs that begin now are not this one's.
        defer { Self.registry.withLockedValue { _ = $0.runs.removeValue(forKey: mark) } }
        while true {
            let left = signalLeft()
            // A killed process is gone in an instant, unless the kernel waits for a disk.
            guard left > 0, .now < end + .seconds(1) else { return left }
            await uncancellableDelay(milliseconds: 50)
        }
    }

    /// Signals the processes that are left: SIGTERM once, SIGKILL when the time is over.
    ///
    /// - Parameter sparesGroup: Whether the command's process group gets its SIGTERM elsewhere.
    /// - Returns: How many processes are left.
    private func signalLeft(sparesGroup: Bool = false) -> Int {
        let registry = Self.registry.withLockedValue { $0 }
        guard let run = registry.runs[mark] else { return 0 }
        let others = registry.runs.filter { $0.key != mark }.values
        let members = Self.members(of: run, others: Array(others), adoptsOrphans: registry.adoptsOrphans)
        let left = members.filter { !$0.isZombie }
        state.withLockedValue { state in
            let isOver = state.endBefore.map { .now >= $0 } ?? false
            for process in left where isOver || state.told.insert(process.id).inserted {
                // One that has ended since, and whose number another process got, started at another time.
                guard ProcessTable.entry(process.id)?.startedAt == process.startedAt else { continue }
                if sparesGroup, !isOver, process.group == run.leader { continue }
                kill(process.id, isOver ? SIGKILL : SIGTERM)
                // A stopped process would never handle SIGTERM.
                if !isOver { kill(process.id, SIGCONT) }
            }
        }
        // The code that started the command itself waits for it.
        for process in members where process.isZombie && process.parent == getpid() && process.id != run.leader {
            waitpid(process.id, nil, WNOHANG)
        }
        return left.count
    }

    private static func members(of run: Run, others: [Run], adoptsOrphans: Bool) -> [ProcessTable.Entry] {
        let own = getpid()
        let session = getsid(0)
        let foreign = Set(others.compactMap(\.leader))
        let table = ProcessTable.now().entries.filter {
            $0.startedAt >= run.startedAt && $0.id != own && !foreign.contains($0.id)
        }
        var members: Set<pid_t> = []
        for process in table {
            let environment = process.isZombie ? [] : ProcessTable.environment(of: process.id)
            if let leader = run.leader, process.session == leader || process.group == leader {
                members.insert(process.id)
            } else if contains(environment, entry: run.mark) {
                members.insert(process.id)
            } else if adoptsOrphans, process.parent == own, process.session != session,
                !contains(environment, entry: Array("\(variable)=".utf8)),
                // It may be of another run that was there when it began.
                !others.contains(where: { $0.startedAt <= process.startedAt })
            {
                members.insert(process.id)
            }
        }
        var grew = true
        while grew {
            let children = table.filter { members.contains($0.parent) && !members.contains($0.id) }
            members.formUnion(children.map(\.id))
            grew = !children.isEmpty
        }
        return table.filter { members.contains($0.id) }
    }

    /// Whether an environment has a variable that begins like this, or is exactly this with its value.
    private static func contains(_ environment: [UInt8], entry: [UInt8]) -> Bool {
        environment.split(separator: 0).contains { $0.starts(with: entry) }
    }
}
