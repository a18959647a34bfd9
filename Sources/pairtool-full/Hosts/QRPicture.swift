import CommandCore
import CompanionWire
import Glibc
import PairingAgent
import QRCodec

/// The PNG file that a host keeps its current QR code in. It holds a token, so it goes when the host ends.
struct QRPicture: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    let path: String

    /// Checks that nothing of the user's is overwritten, and that the file can be written.
    ///
    /// - Throws: ``CommandError`` where the path is something else than a PNG file, or cannot be written.
    init(path: String) throws {
        self.path = path
        if let isFile = PrivateFile.isRegularFile(path) {
            guard isFile, isPicture else {
                throw CommandError(.usage, "host.qr_file", "\(path) exists and is not a PNG file; it was left alone")
            }
        }
        do {
            // The first code is not there yet: an empty picture shows whether there can be one.
            try Self.signature.withUnsafeBytes {
                try PrivateFile.write($0, to: path, makesDirectory: false, isDurable: false)
            }
        } catch {
            throw CommandError(.failed, "host.qr_file", "the QR code cannot be written: \(error)")
        }
    }

    /// Writes a payload's QR code in place of the last one.
    func write(_ payload: String) throws {
        let picture = try QRSymbol(smallest: Array(payload.utf8), atLeast: .medium).png()
        try picture.withUnsafeBytes { try PrivateFile.write($0, to: path, makesDirectory: false, isDurable: false) }
    }

    /// Removes the file, if it still is a picture.
    func remove() {
        if isPicture { unlink(path) }
    }

    private var isPicture: Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: Self.signature.count)
        return read(descriptor, &start, start.count) == start.count && start == Self.signature
    }
}
