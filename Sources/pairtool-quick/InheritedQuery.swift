import Discovery
import Dispatch
import Glibc

/// What `pairtool` has asked the Avahi daemon before it became this program: the connection.
struct InheritedQuery {
    /// It has to last until this program's own browsers are there, some 6 ms after the start; if it does not, the
    /// daemon begins anew, and only the head start is lost. It ends early lest the bus send every answer twice.
    private static let life = DispatchTimeInterval.milliseconds(100)

    private let descriptor: Int32

    /// Takes it out of the environment. To be called before anything is opened, and before there are other threads.
    ///
    /// - Returns: nil where there is none.
    static func take() -> InheritedQuery? {
        let name = InheritedConnection.variable
        guard let text = getenv(name) else { return nil }
        let number = Int32(String(cString: text))
        unsetenv(name)
        var family: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard let number, number > STDERR_FILENO, getsockopt(number, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0,
            family == AF_UNIX, fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        return InheritedQuery(descriptor: number)
    }

    /// Closes it once this program's own questions have taken its place: an answer to it is read by nobody.
    func closeLater() {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.life) { [descriptor] in close(descriptor) }
    }
}
