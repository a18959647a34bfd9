import CompanionWire

/// Sizes of what commands carry.
enum CommandLimits {
    /// - Throws: ``SignedCommandError`` with `command.bad_shape`.
    static func check(_ payload: CommandPayload) throws(SignedCommandError) {
        func isText(_ text: String, _ limit: Int) -> Bool {
            (1...limit).contains(text.utf8.count) && !text.utf8.contains(0)
        }
        let isGood =
            switch payload {
            case .projectCreate(let name, let path):
                isText(name, 100) && path.map { isText($0, 4096) } ?? true
            case .sessionCreate(let project): isText(project, 200)
            case .chatCreate(let project, let title):
                isText(project, 200) && title.map { $0.utf8.count <= 1000 } ?? true
            case .chatSend(let chat, let prompt, let model, let tools):
                isText(chat, CompanionHostStore.maximumChatIDSize) && !prompt.trimmingWhitespace().isEmpty
                    && model.map { isText($0, 200) } ?? true && tools?.count ?? 0 <= 200
            case .sessionRemove(let chat, _): isText(chat, 200)
            case .chatCancel(let chat, let turn): isText(chat, 200) && isText(turn, 200)
            case .approvalDecide(let approval, let option):
                isText(approval, 200) && option.map { isText($0, ApprovalOption.idSize) } ?? true
            }
        guard isGood else {
            throw SignedCommandError(.commandBadShape, message: "A field of `payload` is empty, too long or has a NUL")
        }
    }
}
