/// The body of `POST /companion/chats/:id/continue`.
package struct ContinueChatRequest: Codable, Sendable, Hashable {
    package var prompt: String
    /// A `localPath` that the host listed; nil leaves the choice to the host.
    package var projectPath: String?
    /// A model id from `GET /models`. Without one, deployed hosts store the prompt and answer with an error frame.
    package var model: String?
    /// Names of tools that may run. Nil means *all tools, approved automatically* and `[]` denies all.
    package var allowedTools: [String]?

    package init(prompt: String, projectPath: String?, model: String?, allowedTools: [String]?) {
        self.prompt = prompt
        self.projectPath = projectPath
        self.model = model
        self.allowedTools = allowedTools
    }
}
