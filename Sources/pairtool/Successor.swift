import CProgram

/// The programs that this one can become.
enum Successor {
    /// Where they are, seen from the directory of this one: in the build's products, or installed.
    private static var places: [String] { ["", "../libexec/pairtool/"] }
    private static var quick: String { "pairtool-quick" }
    /// Has all commands. It brings network, database and TLS along, and takes several times as long to start.
    private static var full: String { "pairtool-full" }

    /// Becomes one of them, with the same arguments: the process stays the same.
    static func run(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
        guard let directory = directory() else {
            fail("the program's own file cannot be found", next: "mount /proc", arguments)
        }
        let isQuick = arguments[0] != nil && (arguments[1].map(isQuick) ?? false)
        // The quick one says by itself that the full one is missing.
        var reason = ENOENT
        for name in isQuick ? [quick] : [full, quick] {
            for place in places {
                execv(directory + place + name, arguments)
                // One that is there says more than one that is not.
                if errno != ENOENT { reason = errno }
            }
        }
        let text = String(cString: strerror(reason))
        fail("\(quick) cannot be run: \(text)", next: "install again: scripts/install", arguments)
    }

    /// Whether a command is one of those that the quick program sees to, as long as nothing unusual is wanted of it.
    private static func isQuick(_ command: UnsafeMutablePointer<CChar>) -> Bool {
        strcmp(command, "scan") == 0 || strcmp(command, "discover") == 0 || strcmp(command, "--version") == 0
    }

    /// The directory of this program, with a slash behind it.
    private static func directory() -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        guard count > 0, let end = path[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: path[...end], as: UTF8.self)
    }

    /// - Parameters:
    ///   - reason: What went wrong, and
    ///   - next: what may help, in characters that need no escape in JSON.
    private static func fail(
        _ reason: String,
        next: String,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Never {
        var text = "pairtool: \(reason)\n  next: \(next)\n"
        var word = arguments
        while let pointer = word.pointee {
            if strcmp(pointer, "--json") == 0 {
                text = #"{"error":{"code":"installation.incomplete","exitStatus":1,"message":""# + reason
                text += #"","next":""# + next + "\"}}\n"
            }
            word += 1
        }
        say(text)
        exit(EXIT_FAILURE)
    }
}
