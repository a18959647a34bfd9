import CompanionWire
import Providers

/// The part of a conversation that is sent along with a new prompt.
enum PromptHistory {
    /// The most earlier messages, and the most bytes of their text.
    static let (count, size) = (60, 512 << 10)
    /// The most earlier pictures.
    static let pictures = LumiStore.keptPictures

    /// The messages in turn, the user's first: providers insist on one or the other.
    static func messages(of conversation: LumiConversation, then request: TurnRequest) -> [ProviderPrompt.Message] {
        var picked: [ProviderPrompt.Message] = []
        var (bytes, images) = (0, 0)
        for message in conversation.messages.suffix(count).reversed() {
            bytes += message.content.utf8.count
            guard bytes <= size else { break }
            var pictures: [TurnImage] = []
            if message.isFromUser, images < Self.pictures, let data = message.imageData,
                let picture = try? PictureFile.image(Array(data))
            {
                pictures = [picture]
                images += 1
            }
            guard !message.content.isEmpty || !pictures.isEmpty else { continue }
            picked.append(.init(isFromUser: message.isFromUser, text: message.content, images: pictures))
        }
        picked.reverse()
        picked.append(.init(isFromUser: true, text: request.prompt, images: request.images))
        return picked.turnByTurn
    }
}
