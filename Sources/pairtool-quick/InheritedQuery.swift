import Dispatch
import Glibc

/// What `pairtool` has asked the Avahi daemon before it became this program.
enum InheritedQuery {
    /// Avahi 0.8 begins to ask the network 10 ms after it is told to (measured); from then on a question is that of
    /// whoever else has asked it.
    private static let life = DispatchTimeInterval.milliseconds(100)

    /// Closes its connection once this program's own questions have taken its place: an answer to it is read by nobody.
    static func closeLater() {
        guard let descriptor = getenv(name).flatMap({ Int32(String(cString: $0)) }), descriptor > STDERR_FILENO else {
            return
        }
        unsetenv(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        DispatchQueue.global().asyncAfter(deadline: .now() + life) { close(descriptor) }
    }

    private static let name = "PAIRTOOL_DAEMON_QUERY"
}
