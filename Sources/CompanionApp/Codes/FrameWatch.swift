import CompanionWire
import NIOConcurrencyHelpers
import PairingAgent
import QRCodec

/// Reads one pairing code after another from a camera or a stream of frames.
struct FrameWatch: Sendable {
    let input: FrameInput
    let hints: any CodeHints

    /// - Parameter take: Gets each code once, as soon as two frames agree on it.
    /// - Throws: ``QRCodecError`` if the frames cannot be read.
    func run(_ take: @Sendable (CodeEvent) -> Void) async throws {
        let input = input
        let hints = hints
        defer { hints.clear() }
        var used: Set<PairingPayload> = []
        while true {
            let known = used
            let outcome = try await FrameScanner.scan {
                () throws(QRCodecError) in
                try input.open()
            } report: { progress in
                switch progress {
                case .hint(let hint): hints.show(hint)
                case .other(let bytes):
                    // A pairing code that was reported before is still in view.
                    if case .pairing = QRContent(bytes) { return }
                    hints.show(QRContent(bytes))
                }
            } where: {
                if case .pairing(let payload) = QRContent($0) { !known.contains(payload) } else { false }
            }
            let contents = outcome.agreed.map(FoundCode.init)
            hints.clear()
            if !contents.isEmpty { take(.codes(contents, in: input.name)) }
            used.formUnion(PairingPicture.payloads(of: contents))
            // Only a stream ends; a camera does not.
            guard case .camera = input else {
                guard !contents.isEmpty else {
                    throw AppError(
                        .nothingFound,
                        "scan.no_code",
                        "\(input.name): the frames ended without a pairing code"
                    )
                }
                return
            }
            guard !contents.isEmpty else {
                throw QRCodecError(.cameraFailed, message: "the camera stopped sending frames")
            }
        }
    }
}
