import FoundationEssentials
import Testing

@testable import pairtool

/// Tools that the user allows, and that the agent does not have.
@Suite struct ToolHintTests {
    @Test("A tool that the built-in agent does not have is named in send, with the nearest one")
    func hint() async throws {
        try await withVerifiedHost { _, _, user in
            let sent = await user.run("send", "--new", "--project", "garden", "help", "--allow-tool", "raed_file")
            #expect(sent.status == 0)
            #expect(sent.err.contains("no tool “raed_file”; did you mean read_file?"), "\(sent)")
        }
    }

    @Test("In a chat with the built-in agent, /allow says that its tools need no permission, and no option is advised")
    func inChat() async throws {
        try await withVerifiedHost { _, _, user in
            let lines = "/allow\nread README.md\n/allow\n/quit\n"
            let chat = await user.run("chat", "--project", "garden", stdin: lines)
            #expect(chat.status == 0 && chat.out.contains("Roses and beans."), "\(chat)")
            let sentence = "The built-in agent's tools only read, and need no permission."
            #expect(chat.err.components(separatedBy: sentence).count == 3, "\(chat)")
            #expect(!chat.out.contains("--allow") && !chat.err.contains("--allow"), "\(chat)")
        }
    }

    @Test("Only the built-in agent's tools are known", arguments: ["builtin", "other", nil])
    func known(model: String?) {
        #expect(ToolHint.text(about: "read_file", model: model) == nil)
        #expect((ToolHint.text(about: "frobnicate", model: model) == nil) == (model != "builtin"))
    }
}
