extension WaitingPrompt {
    /// The chat as the host knows it; nil if it is created first.
    package var chat: String? {
        // AICLI's prompts name their chat by its directory.
        chatID ?? (projectID == nil ? AICLISessionTable.chatID(for: workingDirectory) : nil)
    }
}
