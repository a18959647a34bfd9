import CommandCore
import Glibc

/// The program with all commands. It brings network, database and TLS along, and takes several times as long to start.
enum FullTool {
    /// Where it is, seen from the directory of this one: in the build's products, or installed.
    private static let places = ["pairtool-full", "../libexec/pairtool/pairtool-full"]

    /// Becomes that program: the process stays the same.
    static func run(_ arguments: [String]) -> Never {
        let own = directory()
        var words = ([CommandLine.arguments.first ?? "pairtool"] + arguments).map { strdup($0) }
        words.append(nil)
        for place in places { execv("\(own)/\(place)", words) }
        let reason = String(cString: strerror(errno))
        Output(context: .process, format: arguments.contains("--json") ? .json : .text).report(
            CommandError(
                .failed,
                "installation.incomplete",
                "\(own)/\(places[0]) cannot be run: \(reason)",
                next: "install again: scripts/install"
            )
        )
        exit(ExitStatus.failed.rawValue)
    }

    private static func directory() -> String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let file = path.prefix(max(0, count))
        return String(decoding: file[..<(file.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
    }
}
