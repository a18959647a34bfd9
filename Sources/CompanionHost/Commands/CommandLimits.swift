import CompanionWire

/// Sizes of what commands carry.
enum CommandLimits {
    /// Bytes of a prompt, and of the name of a tool.
    private static let (promptSize, toolSize) = (1 << 20, 1000)
    /// Bytes of the blocks of a prompt, and of a setting.
    private static let (contentSize, settingSize) = (12 << 20, 16 << 10)

    /// - Throws: ``SignedCommandError`` with `command.bad_shape`.
    static func check(_ payload: CommandPayload) throws(SignedCommandError) {
        func isText(_ text: String, limit: Int) -> Bool {
            (1...limit).contains(text.utf8.count) && !text.utf8.contains(0)
        }
        let isGood =
            switch payload {
            case .projectCreate(let name, let path):
                isText(name, limit: 100) && path.map { isText($0, limit: 4096) } ?? true
            case .sessionCreate(let project): isText(project, limit: 200)
            case .agentOpen(let chat, let model):
                isText(chat, limit: 200) && model.map { isText($0, limit: 200) } ?? true
            case .agentConfigure(let chat, let method, let parameters):
                isText(chat, limit: 200) && isText(parameters, limit: settingSize)
                    && [ACPMessage.setModeMethod, ACPMessage.setOptionMethod].contains { method.isSame(as: $0) }
            case .chatCreate(let project, let title, _):
                isText(project, limit: 200) && title.map { $0.utf8.count <= 1000 } ?? true
            case .chatSend(let chat, let prompt, let model, let tools, let images, let content):
                content?.utf8.count ?? 0 <= contentSize && images.count <= TurnImage.mostPictures
                    && images.allSatisfy { $0.bytes.count <= TurnImage.mostBytes && TurnImage(file: $0.bytes) == $0 }
                    && isPrompt(prompt) && tools?.allSatisfy { $0.utf8.count <= toolSize } ?? true
                    && isText(chat, limit: CompanionHostStore.maximumChatIDSize)
                    && model.map { isText($0, limit: 200) } ?? true && tools?.count ?? 0 <= 200
            case .sessionRemove(let chat, _): isText(chat, limit: 200)
            case .chatCancel(let chat, let turn): isText(chat, limit: 200) && isText(turn, limit: 200)
            case .approvalDecide(let approval, let option, _):
                isText(approval, limit: 200) && option.map { isText($0, limit: ApprovalOption.idSize) } ?? true
            }
        guard isGood else { throw badShape }
    }

    /// Checks a prompt that was made of the blocks of a command.
    ///
    /// - Throws: ``SignedCommandError`` with `command.bad_shape`.
    static func check(prompt: String) throws(SignedCommandError) {
        guard isPrompt(prompt) else { throw badShape }
    }

    private static func isPrompt(_ text: String) -> Bool {
        text.utf8.count <= promptSize && !text.trimmingWhitespace().isEmpty
    }

    private static let badShape = SignedCommandError(
        .commandBadShape,
        message: "A field of `payload` is empty, too long or has a NUL"
    )
}
