import CompanionWire

/// Reads a streamed answer: bytes in, events out.
struct AnswerReader {
    var format: any ProviderFormat
    /// Whether nothing follows.
    private(set) var isOver = false
    /// How many pieces of the format came.
    private(set) var pieces = 0
    /// The server's words outside the answer, if there were any.
    private(set) var words: String?
    private var frames = ProviderFrames()
    private var tags = ThoughtTags()

    init(format: any ProviderFormat) {
        self.format = format
    }

    /// - Throws: ``ProviderFailure``; ``UnknownPiece``; ``PieceTooLarge``; what `take` throws.
    mutating func feed(_ bytes: some Sequence<UInt8>, _ take: (ProviderEvent) throws -> Void) throws {
        for piece in try frames.feed(bytes) where !isOver { try read(piece, take) }
    }

    /// Takes the end of the stream.
    ///
    /// - Throws: As ``feed(_:_:)`` does.
    mutating func finish(_ take: (ProviderEvent) throws -> Void) throws {
        for piece in frames.finish() where !isOver { try read(piece, take) }
        for event in format.isComplete ? format.finish() : [] { try take(event) }
        for event in tags.finish() { try take(event) }
    }

    private mutating func read(_ piece: ProviderPiece, _ take: (ProviderEvent) throws -> Void) throws {
        guard !piece.isBlank else { return }
        if piece.isEnd {
            isOver = true
            pieces += 1
            return
        }
        if let failure = ProviderFailure(in: piece) { throw failure }
        if piece.isBroken { throw UnknownPiece() }
        // Gemini gives its pieces as an array where it is not asked for events.
        let objects = (piece.json?.array ?? [piece.json].compactMap(\.self)).filter(\.isObject)
        guard !objects.isEmpty else {
            words = words ?? ServerWords.text(ofBody: piece.bytes)
            return
        }
        pieces += 1
        for object in objects {
            if let failure = ProviderFailure(in: object) { throw failure }
            let events = try format.take(object, isFramed: piece.isFramed)
            if events.isEmpty { words = words ?? ServerWords.text(of: object) }
            for event in events { try hand(event, take) }
        }
        isOver = isOver || format.isOver
    }

    private mutating func hand(_ event: ProviderEvent, _ take: (ProviderEvent) throws -> Void) throws {
        switch event {
        case .text(let text):
            for event in text.isEmpty ? [] : tags.take(text) { try take(event) }
        case .thought(""): break
        case .thought, .usage: try take(event)
        case .toolCall, .finished:
            for rest in tags.finish() { try take(rest) }
            try take(event)
        }
    }
}
