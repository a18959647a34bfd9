package import CompanionWire
import Glibc
import LocalState

/// The box in which an agent's processes run (bwrap(1)): the system is read-only, `/tmp` and `/run` are empty, the home
/// directory is hidden but for the agent's program and its own files, and processes see no others. The project may be
/// written, but for what git would run for its owner.
package struct AgentSandbox: Sendable, Hashable {
    /// The facts that people and scripts are told of it.
    package let facts: AdminSandbox
    /// The path of `bwrap`.
    private let program: String
    /// The user's home directory, symbolic links resolved.
    private let home: String
    /// pairtool's own directories, wherever they are.
    private let hidden: [String]
    /// Files and directories that agents may write besides the project.
    private let writable: [String]
    /// The directories of all projects of the host.
    private let projects: [String]
    /// Whether working trees are made beside projects.
    private let usesWorktrees: Bool

    /// - Parameters:
    ///   - hasNetwork: Whether agents reach the network.
    ///   - hidden: Directories that agents do not see: pairtool's own.
    ///   - writable: Absolute paths that agents may write besides the project.
    ///   - projects: The directories of all projects, symbolic links resolved: an agent sees its own only.
    /// - Throws: ``CompanionHostError/Code/agentNotFound`` where there is no bubblewrap, or no home to hide.
    package init(
        hasNetwork: Bool,
        home: String,
        hidden: [String],
        writable: [String],
        projects: [String],
        usesWorktrees: Bool
    ) throws(CompanionHostError) {
        guard let program = AgentProgram.find("bwrap") else {
            throw CompanionHostError(
                .agentNotFound,
                "--sandbox needs bubblewrap, which is not installed (sudo apt install bubblewrap)."
            )
        }
        guard let home = RealPath.of(home), !home.isSame(as: "/") else {
            throw CompanionHostError(.agentNotFound, "--sandbox hides the home directory, and there is none.")
        }
        facts = AdminSandbox(network: hasNetwork)
        (self.program, self.home, self.usesWorktrees) = (program, home, usesWorktrees)
        self.projects = projects
        self.hidden = hidden.compactMap(RealPath.of)
        self.writable = writable.compactMap(RealPath.of)
    }

    /// Checks that a project can be served: one with the home directory in it would show what the box hides.
    ///
    /// - Throws: ``CompanionHostError/Code/invalidProject``.
    package func check(project: String) throws(CompanionHostError) {
        guard !RealPath.isInside(home, of: project) else {
            throw CompanionHostError(
                .invalidProject,
                "--sandbox hides the home directory, but the project \(project) has it in it."
            )
        }
    }

    /// The command line that runs a program in the box.
    ///
    /// - Parameters:
    ///   - command: The program's absolute path, and its arguments.
    ///   - project: The directory of the project.
    ///   - directory: The directory in which the program starts: the project, or a working tree of it.
    ///   - own: Absolute paths of the agent's own files and directories. Those that do not exist are left out.
    func command(_ command: [String], project: String, directory: String, own: [String] = []) -> [String] {
        var words = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        let empty = ["/tmp", "/var/tmp", "/run", home]
        for place in empty { words += ["--tmpfs", place] }
        // Where systemd's resolver has the servers of names.
        words += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
        let worktrees = project + "-worktrees"
        if usesWorktrees { mkdir(worktrees, 0o777) }
        let places = (own.compactMap(RealPath.of) + writable + [project, worktrees, directory]).unique
        func isIn(_ places: [String], _ path: String) -> Bool { places.contains { RealPath.isInside(path, of: $0) } }
        let others = projects.filter { !RealPath.isInside($0, of: project) && !RealPath.isInside(project, of: $0) }
        for place in hidden + others where !isIn(empty + places, place) { words += ["--tmpfs", place] }
        let needed = BoxedProgram(command: command, home: home, writable: places).places
        for place in needed { words += ["--ro-bind", place, place] }
        for place in places { words += ["--bind-try", place, place] }
        words += Self.gitWords(of: project)
        // Last, so that no place above them shows them again.
        for place in hidden where isIn(needed + places, place) { words += ["--tmpfs", place] }
        words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
        if !facts.network { words.append("--unshare-net") }
        // What these lead to is not there.
        words += ["--setenv", "TMPDIR", "/tmp", "--unsetenv", "DBUS_SESSION_BUS_ADDRESS"]
        return words + ["--chdir", directory, "--"] + command
    }

    /// Keeps hooks, configuration and submodules of a repository as they are: git runs them for whoever uses it next. Each
    /// is mounted, so that nothing else can take its place. A path that an agent may have made is not followed: neither a
    /// link, nor the directory that a `.git` or a `commondir` names.
    private static func gitWords(of project: String) -> [String] {
        let git = project + "/.git"
        func kind(_ path: String) -> FileStatus.Kind? { FileStatus(path, followingLinks: false)?.kind }
        guard kind(git) == .directory else { return kind(git) == .file ? ["--ro-bind", git, git] : [] }
        var words = ["--bind", git, git]
        if kind(git + "/config") == .file { words += ["--ro-bind", git + "/config", git + "/config"] }
        for place in [git + "/hooks", git + "/modules"] {
            switch kind(place) {
            case .directory: words += ["--ro-bind", place, place]
            case nil: words += ["--tmpfs", place, "--remount-ro", place]
            default: break
            }
        }
        return words
    }
}
