/// A piece of a message (a content block).
package enum ACPContent: Sendable, Hashable {
    case text(String)
    case media(AgentMedia)
    case link(name: String, uri: String)
    case none

    package init(_ value: JSONValue) {
        switch value["type"]?.string {
        case "text": self = .text(value["text"]?.string ?? "")
        case "image", "audio":
            let type = value["mimeType"]?.string ?? value["type"]?.string ?? ""
            let data = value["data"]?.string ?? ""
            let media = AgentMedia(
                mimeType: type.oneLine(atMost: 100),
                size: data.utf8.count / 4 * 3,
                data: (1...AgentMedia.maximumData).contains(data.utf8.count) ? data : nil
            )
            self = .media(media)
        case "resource_link":
            let uri = value["uri"]?.string ?? ""
            self = .link(name: value["title"]?.string ?? value["name"]?.string ?? uri, uri: uri)
        case "resource":
            if let text = value["resource"]?["text"]?.string {
                self = .text(text)
            } else {
                let uri = value["resource"]?["uri"]?.string ?? ""
                self = .link(name: uri, uri: uri)
            }
        default: self = .none
        }
    }

    /// The piece as text of an answer.
    package var text: String {
        switch self {
        case .text(let text): text
        case .media(let media): "[\(media.mimeType), \(max(media.size >> 10, 1)) KiB]"
        case .link(let name, let uri): name.isSame(as: uri) ? uri : "\(name) (\(uri))"
        case .none: ""
        }
    }

    /// The blocks of a prompt as one text. Pictures and sounds are no part of what was typed, unless there is nothing
    /// else.
    package static func prompt(_ blocks: [JSONValue]) -> String {
        let pieces = blocks.map { ACPContent($0) }
        let typed = pieces.map { if case .media = $0 { "" } else { $0.text } }.joined()
        return typed.trimmingWhitespace().isEmpty ? pieces.map(\.text).joined() : typed
    }
}
