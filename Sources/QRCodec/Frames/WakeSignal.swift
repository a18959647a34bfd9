import Glibc

/// Ends what a thread waits for.
package final class WakeSignal: Sendable {
    private let (descriptor, writer): (Int32, Int32)

    /// - Throws: ``QRCodecError`` with the code `io` where the process has too many files open.
    package init() throws(QRCodecError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw QRCodecError(.io, message: "Cannot wait for frames: \(String(cString: strerror(errno))).")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    /// From now on nobody waits any more. From any thread.
    package func wake() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    /// Waits until something can be read from another descriptor.
    ///
    /// - Returns: Whether that is so; otherwise waiting is over.
    package func wait(forInputFrom other: Int32) -> Bool {
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&entries, 2, -1) < 0 {
            guard errno == EINTR else { return false }
        }
        return entries[0].revents == 0
    }
}
