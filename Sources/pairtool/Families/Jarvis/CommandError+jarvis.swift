import CompanionClient

extension CommandError {
    static func decision(_ error: JarvisDecisionError) -> CommandError {
        CommandError(.failed, "approval.\(error.code)", error.description, next: "pairtool approvals")
    }
}
