@testable import CompanionWire
@testable import Providers

extension Target {
    /// The first byte chooses the format. In pieces the answer is the same.
    func feedProvider(_ bytes: [UInt8]) {
        let formats: [any ProviderFormat] = [
            OpenAIFormat(provider: .openai), OpenAIFormat(provider: .qwen), AnthropicFormat(), GeminiFormat(),
            OllamaFormat(),
        ]
        let format = formats[Int(bytes.first ?? 0) % formats.count]
        let stream = bytes.dropFirst()
        guard let whole = answer(of: [stream], in: format) else { return }
        let size = Int(bytes.last ?? 0) + 1
        let pieces = stride(from: stream.startIndex, to: stream.endIndex, by: size).map { start in
            stream[start..<min(start + size, stream.endIndex)]
        }
        precondition(answer(of: pieces, in: format) == whole)
    }

    /// nil where it ends with an error.
    private func answer(of pieces: [ArraySlice<UInt8>], in format: any ProviderFormat) -> [ProviderEvent]? {
        var reader = AnswerReader(format: format)
        var events: [ProviderEvent] = []
        do {
            for piece in pieces { try reader.feed(piece) { events.append($0) } }
            try reader.finish { events.append($0) }
            return events
        } catch {
            return nil
        }
    }
}
