import CommandCore
import Glibc

/// The program with all commands. It brings network, database and TLS along, and takes several times as long to start.
enum FullTool {
    /// It stands beside this one.
    private static let name = "pairtool-full"

    /// Becomes that program, with the same arguments: the process stays the same.
    ///
    /// - Parameters:
    ///   - arguments: The words behind the program's name; they say how a failure is told.
    ///   - survey: What a look around the network came to, where that remains to be explained.
    static func run(_ arguments: [String], after survey: BlankSurvey? = nil) -> Never {
        let own = directory()
        // As they came: an argument need not be UTF-8.
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        let more = survey.map { ["--after", $0.text] } ?? []
        var vector = words + more.map { strdup($0) } + [nil]
        let path = own.map { "\($0)/\(name)" } ?? name
        if own != nil { execv(path, &vector) }
        let number = own == nil ? ENOENT : errno
        let reason = "\(path) cannot be run: \(String(cString: strerror(number)))"
        var error = CommandError(
            .failed,
            "installation.incomplete",
            reason,
            next: own == nil ? "mount /proc" : "install again: scripts/install"
        )
        if let survey {
            error = survey.error
            error.details = ["what it may be due to is not known: \(reason)"]
        }
        Output(context: .process, format: arguments.contains("--json") ? .json : .text).report(error)
        exit(error.status.rawValue)
    }

    private static func directory() -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        guard count > 0, let end = path[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: path[..<end], as: UTF8.self)
    }
}
