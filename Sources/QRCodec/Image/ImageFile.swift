import Glibc

/// Reads files whole, up to a limit.
package enum ImageFile {
    /// The bytes of a file.
    ///
    /// - Throws: ``QRCodecError`` with the code `io`, or `tooLarge` as soon as the limit is passed.
    package static func bytes(ofFile path: String, limits: ImageLimits = .default) throws(QRCodecError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw QRCodecError(.io, message: "Cannot open \(path): \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        return try bytes(ofDescriptor: descriptor, named: path, limits: limits)
    }

    /// The bytes that a descriptor gives until its end; it stays open.
    ///
    /// - Parameters:
    ///   - descriptor: An open file, pipe or terminal; 0 is standard input. The call blocks until its end.
    ///   - name: What to call it in messages.
    /// - Throws: ``QRCodecError`` with the code `io`, or `tooLarge` as soon as the limit is passed.
    package static func bytes(
        ofDescriptor descriptor: Int32,
        named name: String,
        limits: ImageLimits = .default
    ) throws(QRCodecError) -> [UInt8] {
        var status = stat()
        let size = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        var result: [UInt8] = []
        // One byte more than is there, so that the end is seen without another growth.
        var room = min(max(size + 1, 64 << 10), limits.maxFileBytes + 1)
        while true {
            guard size <= limits.maxFileBytes, result.count <= limits.maxFileBytes else {
                throw QRCodecError(
                    .tooLarge,
                    message: "The limit of \(limits.maxFileBytes) bytes is exceeded by \(name)."
                )
            }
            let start = result.count
            var problem: Int32 = 0
            let grown = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                repeat {
                    count = read(descriptor, buffer.baseAddress, buffer.count)
                } while count < 0 && errno == EINTR
                if count < 0 { (problem, count) = (errno, 0) }
            }
            guard problem == 0 else {
                throw QRCodecError(.io, message: "Cannot read \(name): \(String(cString: strerror(problem))).")
            }
            if grown.isEmpty { return result }
            if start == 0 { result = grown } else { result += grown }
            room = max(64 << 10, size + 1 - result.count)
        }
    }
}
