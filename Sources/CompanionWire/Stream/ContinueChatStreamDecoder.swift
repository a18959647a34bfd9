import FoundationEssentials

/// Reads the answer to `POST /companion/chats/:id/continue` from its bytes, however they were cut on their way.
///
/// Nothing in a frame fails the stream: what does not decode comes out as ``TurnEvent/unknown(type:)``.
package struct ContinueChatStreamDecoder: Sendable {
    /// A step of the answer.
    package enum Output: Sendable, Hashable {
        case event(TurnEvent)
        /// `[DONE]`: the only end of an answer. What follows it is ignored.
        case end
    }

    private var parser: ServerSentEventParser
    private var joiner = SurrogateJoiner()
    private let decoder = JSONDecoder()
    private var hasEnded = false
    private let isNumbered: Bool
    /// The number of the last frame, where frames are numbered; 0 before the first.
    package private(set) var lastNumber = 0

    /// - Parameters:
    ///   - maximumEventSize: The most bytes that a frame may have. Default: 4 MiB.
    ///   - isNumbered: Whether the frames have numbers that grow as their `id` (companion-v2, Streams). A frame whose
    ///     number is not beyond the last one is left out then: it was seen before. Default: false.
    package init(maximumEventSize: Int = 4 << 20, isNumbered: Bool = false) {
        parser = ServerSentEventParser(maximumEventSize: maximumEventSize)
        self.isNumbered = isNumbered
    }

    /// Makes ready for the bytes of another connection that goes on behind the last frame.
    package mutating func resume() {
        parser = ServerSentEventParser(maximumEventSize: parser.maximumEventSize)
    }

    /// Takes bytes and returns what they complete.
    ///
    /// - Throws: ``StreamLimitError`` when a frame is too large.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws(StreamLimitError) -> [Output] {
        guard !hasEnded else { return [] }
        var outputs: [Output] = []
        for event in try parser.feed(bytes) where !hasEnded {
            if String(decoding: event.data, as: UTF8.self) == "[DONE]" {
                hasEnded = true
                outputs.append(contentsOf: finish())
                outputs.append(.end)
            } else if isNew(event) {
                outputs.append(.event(decode(event.data)))
            }
        }
        return outputs
    }

    private mutating func isNew(_ event: ServerSentEvent) -> Bool {
        guard isNumbered, let number = event.id.flatMap(Int.init) else { return true }
        guard number > lastNumber else { return false }
        lastNumber = number
        return true
    }

    /// Returns the text that is left when the stream breaks off: at most U+FFFD in place of half a character.
    package mutating func finish() -> [Output] {
        let rest = joiner.finish()
        return rest.isEmpty ? [] : [.event(.text(rest))]
    }

    private mutating func decode(_ json: [UInt8]) -> TurnEvent {
        // Bytes that are not UTF-8 become U+FFFD.
        let json = LoneSurrogates.replacingInvalid(in: json) ?? json
        let marked = SurrogateJoiner.markLoneSurrogates(in: json)
        guard let event = parse(marked ?? json) else { return .unknown(type: "") }
        guard case .text(let text) = event else {
            // Frames other than text are whole in themselves: a lone half in them has no partner.
            return marked == nil ? event : event.mappingTexts(Self.replacingMarkers)
        }
        return .text(joiner.join(text, isMarked: marked != nil))
    }

    private static func replacingMarkers(in text: String) -> String {
        var joiner = SurrogateJoiner()
        return joiner.join(text, isMarked: true) + joiner.finish()
    }

    private func parse(_ json: [UInt8]) -> TurnEvent? {
        try? decoder.decode(TurnEvent.self, from: Data(json))
    }
}
