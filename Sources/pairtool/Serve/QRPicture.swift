import CompanionApp
import CompanionWire
import Glibc
import Identity
import LocalState
import PairingAgent
import QRCodec
import Terminal

/// The PNG file with a host's current QR code. It contains a token, so it is removed when the host ends.
struct QRPicture: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The largest file, in bytes, that is recognised as such a picture.
    private static let most = 64 << 10

    /// The path of the file with all symbolic links resolved.
    private let path: String
    /// Whether the user named a symbolic link. Then the file is emptied instead of removed, so that the link stays
    /// valid.
    private let isBehindLink: Bool

    /// Checks that this overwrites no file of the user's, and that the file can be written.
    ///
    /// - Throws: ``AppError`` if the path holds anything but a host's picture or an empty file; ``NamedFileError`` if
    ///   it cannot be written to.
    init(path: String) throws {
        let place = try OutputFile.destination(path)
        guard FileStatus(place, followingLinks: false) == nil || Self.isReplaceable(place) else {
            throw AppError(
                .usage,
                "host.qr_file",
                "\(path) exists and is not a picture of a pairing code; it was left unchanged",
                next: "name a file that does not exist"
            )
        }
        self.path = place
        isBehindLink = FileStatus(path, followingLinks: false)?.kind == .link
        // There is no code yet. An empty file shows that it can be written, and nobody takes it for a picture.
        try OutputFile.replace(place, with: UnsafeRawBufferPointer(start: nil, count: 0))
        ExitCleanup.add(remove)
    }

    /// Replaces the picture with the QR code of a payload.
    func write(_ payload: String) throws {
        let picture = try QRSymbol(smallest: Array(payload.utf8), atLeast: .medium).png()
        try picture.withUnsafeBytes { try OutputFile.replace(path, with: $0) }
    }

    /// Removes the file if it is still such a picture.
    func remove() {
        guard Self.isReplaceable(path) else { return }
        if isBehindLink {
            try? OutputFile.replace(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        } else {
            unlink(path)
        }
    }

    /// Whether the file can be replaced without loss: it is empty, or holds a pairing code that a killed host left
    /// behind.
    private static func isReplaceable(_ path: String) -> Bool {
        guard FileStatus(path, followingLinks: false)?.kind == .file,
            let content = try? PrivateFile.read(path, limit: most)
        else { return false }
        if content.isEmpty { return true }
        guard content.starts(with: signature), let found = try? QRScanner.scan(content) else { return false }
        return found.contains { symbol in
            if case .pairing = QRContent(symbol.bytes) { true } else { false }
        }
    }
}
