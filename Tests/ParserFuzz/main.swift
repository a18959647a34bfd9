import FuzzDriver

@testable import CompanionHost
@testable import CompanionWire
@testable import LineEditor
@testable import Markdown

/// What `FUZZ_FORMAT` names is fed the inputs of libFuzzer: one parser of what strangers send. Beside a crash, a broken
/// promise of the parser ends the program. See `scripts/fuzz`.
enum Target: String {
    case qr
    case canonical
    case json
    case command
    case sse
    case acp
    case address
    case markdown
    case text
    case keys
    case git
    // Those of other programs on the network, in files of their own.
    case dns
    case dbus
    case relay
    case lumi
    case aicli
    case provider
    case websocket

    func feed(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        switch self {
        case .qr: _ = QRContent(bytes)
        case .canonical:
            // What is signed again is the same.
            guard let value = try? CanonicalJSON(parsing: bytes) else { return }
            guard let again = try? CanonicalJSON(parsing: value.bytes) else { preconditionFailure() }
            precondition(again.bytes == value.bytes)
        case .json:
            // What is written is read as the same, but for the sign of zero.
            guard let value = JSONValue(lenient: bytes), let once = JSONValue(lenient: value.json) else { return }
            precondition(JSONValue(lenient: once.json)?.json == once.json)
        case .command: _ = try? SignedCommand.parse(bytes)
        case .sse: feedStream(bytes)
        case .acp: feedLines(bytes)
        case .address:
            if let endpoint = CompanionEndpoint(text) { precondition(CompanionEndpoint("\(endpoint)") == endpoint) }
            if let route = HostRoute(text) { precondition(HostRoute("\(route)") == route) }
            if let relay = RelayAddress(text) { precondition(RelayAddress("\(relay)") == relay) }
            if let address = IPAddress(text) { precondition(IPAddress("\(address)") == address) }
            _ = PageLink(text)
        case .markdown: render(text, columns: Int(bytes.first ?? 80))
        case .text:
            // Nothing that a terminal acts on is left.
            precondition(!TerminalText.isUnsafe(TerminalText.line(text)))
        case .keys:
            var (decoder, rest) = (KeyDecoder(), bytes[...])
            while !rest.isEmpty { if decoder.next(&rest).isEmpty { precondition(rest.isEmpty) } }
            while decoder.limit != nil, let _ = decoder.endWait() {}
        case .git: feedGit(bytes)
        case .dns: feedDNS(bytes)
        case .dbus: feedDBus(bytes)
        case .relay: feedRelay(bytes)
        case .lumi: feedLumi(bytes)
        case .aicli: feedAICLI(bytes)
        case .provider: feedProvider(bytes)
        case .websocket: feedWebSocket(bytes)
        }
    }

    /// Whole, and in pieces: both give the same.
    private func feedStream(_ bytes: [UInt8]) {
        var (whole, pieces) = (
            ServerSentEventParser(maximumEventSize: 4096), ServerSentEventParser(maximumEventSize: 4096)
        )
        let size = Int(bytes.last ?? 0) + 1
        if let events = try? whole.feed(bytes) {
            var found: [ServerSentEvent] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                guard let more = try? pieces.feed(bytes[start..<min(start + size, bytes.count)]) else {
                    preconditionFailure()
                }
                found += more
            }
            precondition(found == events)
        }
        var decoder = ContinueChatStreamDecoder(maximumEventSize: 4096, isNumbered: size % 2 == 0)
        _ = try? decoder.feed(bytes)
        _ = decoder.finish()
    }

    private func feedLines(_ bytes: [UInt8]) {
        var lines = ACPLines(limit: 4096)
        bytes.withUnsafeBytes { bytes in
            _ = lines.take(bytes) { line in
                for message in ACPMessage.all(in: line) { read(message) }
                return true
            }
        }
    }

    private func read(_ message: ACPMessage) {
        guard case .request(_, _, let value) = message else {
            if case .notification(_, let value) = message { _ = ACPUpdate(value["update"] ?? value) }
            return
        }
        _ = try? ACPForm(key: 1, value: value, session: "s")
        _ = ACPCommand(value["toolCall"]?["rawInput"])
        _ = ACPToolCall(value["toolCall"] ?? value)
    }

    /// What git says of a repository whose files are an agent's.
    private func feedGit(_ bytes: [UInt8]) {
        for change in GitSnapshots.parse(bytes, digits: 40) { precondition(!change.paths.isEmpty) }
        // Nothing is left that would go another time.
        let kept = GitSnapshots.withoutLeftOut(bytes[...])
        precondition(GitSnapshots.withoutLeftOut(kept[...]).count == kept.count)
        _ = LFSPointer(bytes)
        let path = GitPath(bytes)
        precondition(!TerminalText.isUnsafe(path.quoted) && !path.text.utf8.contains(0x0A))
    }

    private func render(_ text: String, columns: Int) {
        var stream = MarkdownStream(MarkdownOptions(columns: max(columns, 1), hasLinks: columns % 2 == 0))
        for piece in text.split(separator: "\u{0}", omittingEmptySubsequences: false) {
            stream.feed(String(piece))
            _ = stream.openRows()
            _ = stream.takeRows()
        }
        stream.finish()
        _ = stream.takeRows()
    }
}

let target: Target = chosenTarget()
runLibFuzzer(target.feed)
