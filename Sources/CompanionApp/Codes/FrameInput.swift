import CompanionClient
package import CompanionWire
import NIOConcurrencyHelpers
package import PairingAgent
import QRCodec

/// The source of frames.
package enum FrameInput: Sendable {
    /// The path of a camera; nil for the first one.
    case camera(String?)
    /// A file, or `-` for standard input.
    case stream(String)

    package var name: String {
        switch self {
        case .camera(let device): device ?? "camera"
        case .stream(let file): file
        }
    }

    func open() throws(QRCodecError) -> any FrameSource {
        switch self {
        case .camera(let device): try CameraFrames(path: device)
        case .stream(let file): try DescriptorFrames(path: file)
        }
    }
}

/// Reads frames until two of them show the same pairing code.
package struct FrameReading: Sendable {
    let input: FrameInput
    let interaction: any Interaction
    let hints: any CodeHints
    /// Whether any code will do, not only one for pairing.
    let takesAll: Bool

    package init(input: FrameInput, interaction: any Interaction, hints: any CodeHints, takesAll: Bool = false) {
        self.input = input
        self.interaction = interaction
        self.hints = hints
        self.takesAll = takesAll
    }

    /// The codes: one or more pairing codes or, if the frames end without one, the other codes that were seen.
    ///
    /// - Parameter limit: How long to wait; nil waits for ever.
    /// - Throws: ``AppError``, also when no code was seen; with exit code 4 when the time limit is reached.
    package func contents(within limit: Duration?) async throws -> [FoundCode] {
        let input = input
        let (hints, others) = (hints, NIOLockedValueBox<[QRContent]>([]))
        if case .camera = input { interaction.say("Looking through the camera. Ctrl-C ends it.") }
        defer { hints.clear() }
        let outcome = try await withTimeLimit(limit) {
            try await FrameScanner.scan {
                () throws(QRCodecError) in
                try input.open()
            } report: { progress in
                switch progress {
                case .hint(let hint): hints.show(hint)
                case .other(let bytes):
                    let content = QRContent(bytes)
                    others.withLockedValue { $0.append(content) }
                    hints.show(content)
                }
            } where: { [takesAll] in
                takesAll || PairingSymbol(QRContent($0)) != nil
            }
        }
        guard let outcome else { throw timedOut(others.withLockedValue(\.self)) }
        guard outcome.agreed.isEmpty else { return outcome.agreed.map(FoundCode.init) }
        if outcome.others.contains(where: { PairingSymbol(QRContent($0)) != nil }) {
            throw AppError(
                .nothingFound,
                "scan.seen_once",
                "\(name): only one frame showed a pairing code; two frames must show the same one",
                next: "show the code for longer, or leave out --frames to read a single picture"
            )
        }
        guard !outcome.others.isEmpty else {
            throw AppError(
                .nothingFound,
                "scan.no_code",
                "\(name): no QR code was found in \(outcome.frames == 1 ? "1 frame" : "\(outcome.frames) frames")",
                next: "show the code larger, sharper and with even light, or type the six digits: pairtool pair"
            )
        }
        return outcome.others.map(FoundCode.init)
    }

    /// The one pairing code.
    ///
    /// - Throws: ``AppError`` when there is none, or more than one.
    package func symbol(within limit: Duration? = nil) async throws -> PairingSymbol {
        try PairingPicture.symbol(of: await contents(within: limit), in: input.name)
    }

    private var name: String { PairingPicture.name(input.name) }

    private func timedOut(_ others: [QRContent]) -> AppError {
        let seen = others.compactMap(\.shortcoming)
        return AppError(
            .timedOut,
            "scan.timed_out",
            "\(name): no pairing code was read in time"
                + (seen.isEmpty ? "" : "; seen: \(seen.joined(separator: "; "))"),
            next: "show the code larger, sharper and with even light, or type the six digits: pairtool pair"
        )
    }
}

extension QRContent {
    /// Whether it is a pairing code, usable or not: its text has secrets.
    package var isPairing: Bool { if case .foreign = self { false } else { true } }

    /// Why a code is not a usable pairing code; nil if it is one.
    package var shortcoming: String? {
        switch self {
        case .unusable(let reason): "an unusable pairing code: \(reason)"
        case .foreign(let what): what
        default: nil
        }
    }
}
