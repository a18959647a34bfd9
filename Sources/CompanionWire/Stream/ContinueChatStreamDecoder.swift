import FoundationEssentials

/// Reads the answer to `POST /companion/chats/:id/continue` from its bytes, however they were cut on their way.
///
/// Nothing in a frame fails the stream: what does not decode comes out as ``ContinueChatEvent/unknown(type:)``.
package struct ContinueChatStreamDecoder: Sendable {
    package enum Output: Sendable, Hashable {
        case event(ContinueChatEvent)
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

    /// What is left when the stream breaks off: at most a replacement character for half a character.
    package mutating func finish() -> [Output] {
        let rest = joiner.finish()
        return rest.isEmpty ? [] : [.event(.text(rest))]
    }

    private mutating func decode(_ json: [UInt8]) -> ContinueChatEvent {
        // Bytes that are not UTF-8 become U+FFFD.
        let json = LoneSurrogates.replacingInvalid(in: json) ?? json
        let marked = SurrogateJoiner.markLoneSurrogates(in: json)
        guard let event = parse(marked ?? json) else { return .unknown(type: "") }
        guard case .text(let text) = event else {
            return marked == nil ? event : event.replacingMarkers()
        }
        return .text(joiner.join(text, isMarked: marked != nil))
    }

    private func parse(_ json: [UInt8]) -> ContinueChatEvent? {
        try? decoder.decode(ContinueChatEvent.self, from: Data(json))
    }
}

extension ContinueChatEvent {
    /// Frames other than text are whole in themselves: a lone half in them has no partner.
    fileprivate func replacingMarkers() -> ContinueChatEvent {
        func plain(_ text: String) -> String {
            var joiner = SurrogateJoiner()
            return joiner.join(text, isMarked: true) + joiner.finish()
        }
        return switch self {
        case .status(let label): .status(label: plain(label))
        case .toolStart(let name, let id): .toolStart(toolName: plain(name), toolCallID: id)
        case .toolComplete(let name, let id, let success, let details):
            .toolComplete(toolName: plain(name), toolCallID: id, success: success, details: details.map(plain))
        case .error(let text): .error(plain(text))
        case .errorWithChanges(let text, let files): .errorWithChanges(plain(text), files: files)
        case .unavailable(let text, let files): .unavailable(plain(text), files: files)
        case .mode(let mode): AgentMode(plain(mode.name)).map(Self.mode) ?? self
        case .question(let notice): .question(notice.mappingTexts(plain))
        case .activity(let activity): .activity(activity.mappingTexts(plain))
        case .text, .usage, .done, .doneWithChanges, .unknown: self
        }
    }
}

extension QuestionNotice {
    fileprivate func mappingTexts(_ change: (String) -> String) -> QuestionNotice {
        var notice = self
        notice.title = change(title)
        notice.kind = change(kind)
        notice.answer = answer.map(change)
        notice.decidedBy = decidedBy.map(change)
        notice.mode = mode.flatMap { AgentMode(change($0.name)) }
        return notice
    }
}
