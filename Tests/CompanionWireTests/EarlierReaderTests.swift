import CompanionWire
import FoundationEssentials
import Testing

/// A frame as readers of protocol v2 took it before agents asked, had modes and told of their work. To be left as it is.
private enum EarlierFrame: Decodable, Equatable {
    case status(String)
    case text(String)
    case toolStart(String)
    case toolComplete(String)
    case usage(Int?)
    case done
    case error(String)
    case unknown(String)

    private enum CodingKeys: String, CodingKey {
        case type, label, text, toolName, totalTokens, error
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func string(_ key: CodingKeys) -> String? { try? container.decodeIfPresent(String.self, forKey: key) }
        switch string(.type) {
        case "status": self = .status(string(.label) ?? "")
        case "text": self = .text(string(.text) ?? "")
        case "tool_start": self = .toolStart(string(.toolName) ?? "")
        case "tool_complete": self = .toolComplete(string(.toolName) ?? "")
        case "usage": self = .usage(try? container.decodeIfPresent(Int.self, forKey: .totalTokens))
        case "done": self = .done
        case "error": self = .error(string(.error) ?? "unknown error")
        case let type: self = .unknown(type ?? "")
        }
    }
}

@Suite("Readers of earlier versions")
struct EarlierReaderTests {
    private static let question = [ApprovalNotice.Phase.asked, .decided, .continued].map { phase in
        TurnEvent.question(
            ApprovalNotice(
                phase,
                id: "q",
                title: "Run “it”\n",
                kind: "execute",
                state: phase == .asked ? .open : .approved,
                answer: phase == .asked ? nil : "Yes",
                decidedBy: phase == .asked ? nil : "Laptop",
                expiresAt: phase == .asked ? Date(timeIntervalSince1970: 0) : nil
            )
        )
    }
    /// What they do not know.
    private static let later: [TurnEvent] =
        question + [
            .mode(AgentMode("Ask first")!), .thought("text\n"),
            .plan([AgentPlanStep(text: "Look", status: .inProgress)]),
            .tool(
                ToolReport(
                    id: "t",
                    title: "Edit",
                    kind: "edit",
                    status: .completed,
                    locations: [AgentLocation(path: "a", line: 3)],
                    changes: [ToolReport.Change(path: "a", diff: "--- a\n+++ a\n")]
                )
            ),
            .media(AgentMedia(mimeType: "image/png", size: 3, data: "AAAA")),
        ]

    /// Reads a stream as they did.
    private static func read(_ stream: String) throws -> (frames: [EarlierFrame], numbers: [String], hasEnded: Bool) {
        var parser = ServerSentEventParser()
        var (frames, numbers, hasEnded): ([EarlierFrame], [String], Bool) = ([], [], false)
        for event in try parser.feed(stream.utf8) {
            if String(decoding: event.data, as: UTF8.self) == "[DONE]" {
                hasEnded = true
            } else {
                numbers.append(event.id ?? "")
                frames.append(try JSONDecoder().decode(EarlierFrame.self, from: Data(event.data)))
            }
        }
        return (frames, numbers, hasEnded)
    }

    @Test("Frames of later versions are skipped, wherever they come, and the answer is whole")
    func skipped() throws {
        let known: [TurnEvent] = [
            .status("Thinking"), .text("One, "), .toolStart(name: "Edit", id: "t"),
            .toolComplete(name: "Edit", id: "t", success: true, details: "a +1 −0"), .text("two"),
            .usage(TurnUsage(totalTokens: 7)), .done(files: 3),
        ]
        let events = Self.later + known.flatMap { [$0] + Self.later }
        let stream = events.enumerated().map { "id: \($0 + 1)\n" + TurnFrames.encode($1) }.joined()
        let (frames, numbers, hasEnded) = try Self.read(stream + TurnFrames.end)
        let types = [
            "approval_asked", "approval_decided", "approval_continued", "agent_mode", "agent_thought", "agent_plan",
            "agent_tool", "agent_media",
        ]
        let unknown = types.map(EarlierFrame.unknown)
        let understood: [EarlierFrame] = [
            .status("Thinking"), .text("One, "), .toolStart("Edit"), .toolComplete("Edit"), .text("two"), .usage(7),
            .done,
        ]
        #expect(frames == unknown + understood.flatMap { [$0] + unknown })
        // They resume behind the last number, so that of a skipped frame counts as well.
        #expect(numbers == (1...events.count).map(String.init))
        #expect(hasEnded)
        // This version skips what is later than itself in the same way.
        let next = stream.replacing("\"type\":\"agent_", with: "\"type\":\"later_")
        var decoder = ContinueChatStreamDecoder(isNumbered: true)
        let outputs = try decoder.feed((next + TurnFrames.end).utf8)
        let text = outputs.map { if case .event(.text(let text)) = $0 { text } else { "" } }.joined()
        #expect(text == "One, two" && outputs.last == .end && decoder.lastNumber == events.count)
    }

    @Test("An error with changes is an error")
    func failed() throws {
        let events: [TurnEvent] = [.text("part"), .failed(TurnFailure("e", files: 2))]
        let stream = events.map(TurnFrames.encode).joined() + TurnFrames.end
        #expect(try Self.read(stream).frames == [.text("part"), .error("e")])
    }
}
