import CompanionWire
import NIOConcurrencyHelpers
import QRCodec

/// Looks through a camera, or at a stream of frames, for one pairing code after another.
struct FrameWatch: Sendable {
    let input: FrameInput
    let output: Output

    /// - Parameter take: Gets every code that two frames agreed on, once.
    /// - Throws: ``QRCodecError`` if the frames cannot be read.
    func run(_ take: @Sendable (CodeEvent) -> Void) async throws {
        let input = input
        let hints = HintLine(output)
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
                    // One that was seen before is still held there.
                    if case .pairing = QRContent(bytes) { return }
                    hints.show(QRContent(bytes))
                }
            } where: {
                if case .pairing(let payload) = QRContent($0) { !known.contains(payload) } else { false }
            }
            let contents = outcome.agreed.map { QRContent($0) }
            hints.clear()
            if !contents.isEmpty { take(.codes(contents, in: input.name)) }
            used.formUnion(PairingPicture.payloads(of: contents))
            // A stream has one end.
            guard case .camera = input else {
                guard !contents.isEmpty else {
                    throw CommandError(
                        .nothingFound,
                        "scan.no_code",
                        "\(input.name): the frames ended without a pairing code"
                    )
                }
                return
            }
            guard !contents.isEmpty else { throw QRCodecError(.cameraFailed, "the camera gives no more frames") }
        }
    }
}
