import CompanionWire
import Glibc
import PairingAgent
import QRCodec

/// The PNG file that a host keeps its current QR code in. It holds a token, so it goes when the host ends.
struct QRPicture: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The most bytes of a picture that is taken for one of ours.
    private static let most = 64 << 10

    /// The file itself, behind all links.
    private let path: String
    /// Whether the user has named a link: so that it goes on leading somewhere, the file is emptied, not removed.
    private let isBehindLink: Bool

    /// Checks that nothing of the user's is overwritten, and that the file can be written.
    ///
    /// - Throws: ``CommandError`` where something else is there than a host's picture or an empty file, or where it
    ///   cannot be written to.
    init(path: String) throws {
        let place = try OutputFile.destination(path)
        guard FileStatus(place, followingLinks: false) == nil || Self.isReplaceable(place) else {
            throw CommandError(
                .usage,
                "host.qr_file",
                "\(path) exists and is no picture of a pairing code; it was left alone",
                next: "name a file that is not there"
            )
        }
        self.path = place
        isBehindLink = FileStatus(path, followingLinks: false)?.kind == .link
        // The first code is not there yet: an empty picture shows whether there can be one.
        try Self.signature.withUnsafeBytes { try OutputFile.replace(place, with: $0) }
        ExitCleanup.add(remove)
    }

    /// Writes a payload's QR code in place of the last one.
    func write(_ payload: String) throws {
        let picture = try QRSymbol(smallest: Array(payload.utf8), atLeast: .medium).png()
        try picture.withUnsafeBytes { try OutputFile.replace(path, with: $0) }
    }

    /// Removes the file, if it still is such a picture.
    func remove() {
        guard Self.isReplaceable(path) else { return }
        if isBehindLink {
            try? OutputFile.replace(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        } else {
            unlink(path)
        }
    }

    /// Whether nothing is lost with a file: it is empty, or the picture of a pairing code, as a host leaves it that is
    /// killed.
    private static func isReplaceable(_ path: String) -> Bool {
        guard FileStatus(path, followingLinks: false)?.kind == .file,
            let content = try? PrivateFile.read(path, limit: most)
        else { return false }
        if content.isEmpty || content == signature { return true }
        guard content.starts(with: signature), let found = try? QRScanner.scan(content) else { return false }
        return found.contains { symbol in
            if case .pairing = QRContent(symbol.bytes) { true } else { false }
        }
    }
}
