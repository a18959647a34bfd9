import Glibc

/// Frames from a file, a pipe or standard input.
package struct DescriptorFrames: FrameSource {
    private let descriptor: FrameDescriptor
    private let name: String
    private var parser = FrameParser()
    private var ready: ArraySlice<Frame> = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    /// Whether it is a pipe, a socket or a device.
    package let isLive: Bool

    /// - Parameter path: A file, a named pipe, or `-` for standard input.
    /// - Throws: ``QRCodecError`` with the code `fileNotFound`, `fileDenied` or `io`.
    package init(path: String) throws(QRCodecError) {
        let isInput = path == "-"
        name = isInput ? "standard input" : path
        // Not to wait for a writer here: the waiting for input can be ended, this could not.
        let number = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            throw QRCodecError(Self.code(errno), message: "Cannot open \(path): \(String(cString: strerror(errno))).")
        }
        descriptor = FrameDescriptor(number: number, isOwned: !isInput)
        var status = stat()
        isLive = fstat(number, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
    }

    private static func code(_ number: Int32) -> QRCodecError.Code {
        switch number {
        case ENOENT, ENOTDIR: .fileNotFound
        case EACCES, EPERM: .fileDenied
        default: .io
        }
    }

    /// Waits for the next frame; `nil` at the end of the stream, or when `wake` ended the waiting.
    ///
    /// - Throws: ``QRCodecError`` with the code `io`, or as ``FrameParser`` throws it.
    package mutating func next(_ wake: WakeSignal) throws(QRCodecError) -> Frame? {
        while ready.isEmpty {
            guard wake.wait(forInputFrom: descriptor.number) else { return nil }
            let count = buffer.withUnsafeMutableBytes { read(descriptor.number, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                throw QRCodecError(.io, message: "Cannot read \(name): \(String(cString: strerror(errno))).")
            }
            guard count > 0 else {
                try parser.finish()
                return nil
            }
            do throws(QRCodecError) {
                ready = try parser.take(buffer[..<count])[...]
            } catch {
                var named = error
                named.message = "\(name): \(error.message)"
                throw named
            }
        }
        return ready.removeFirst()
    }
}

/// An open descriptor, closed with the last reference if it is our own.
private final class FrameDescriptor {
    let number: Int32
    private let isOwned: Bool

    init(number: Int32, isOwned: Bool) {
        (self.number, self.isOwned) = (number, isOwned)
    }

    deinit {
        if isOwned { close(number) }
    }
}
