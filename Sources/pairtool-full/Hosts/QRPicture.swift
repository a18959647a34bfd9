import CommandCore
import CompanionWire
import Glibc
import PairingAgent
import QRCodec

/// The PNG file that a host keeps its current QR code in. It holds a token, so it goes when the host ends.
struct QRPicture: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The file itself: a link that the user named stays, also when the file goes.
    private let path: String

    /// Checks that nothing of the user's is overwritten, and that the file can be written.
    ///
    /// - Throws: ``CommandError`` where the path is something else than a PNG file, or cannot be written to.
    init(path: String) throws {
        if let isFile = PrivateFile.isRegularFile(path) {
            guard isFile, Self.isPicture(path) else {
                throw CommandError(.usage, "host.qr_file", "\(path) exists and is not a PNG file; it was left alone")
            }
        }
        // The first code is not there yet: an empty picture shows whether there can be one.
        _ = try Self.signature.withUnsafeBytes { try OutputFile.write($0, to: path) }
        self.path = try OutputFile.target(of: path)
    }

    /// Writes a payload's QR code in place of the last one.
    func write(_ payload: String) throws {
        let picture = try QRSymbol(smallest: Array(payload.utf8), atLeast: .medium).png()
        try picture.withUnsafeBytes { try PrivateFile.write($0, to: path, makesDirectory: false, isDurable: false) }
    }

    /// Removes the file, if it still is a picture.
    func remove() {
        if Self.isPicture(path) { unlink(path) }
    }

    private static func isPicture(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: signature.count)
        return read(descriptor, &start, start.count) == start.count && start == signature
    }
}
