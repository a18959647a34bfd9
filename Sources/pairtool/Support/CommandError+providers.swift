import CompanionClient

extension CommandError {
    /// What the error of a provider means at the command line.
    static func provider(_ error: ProviderError) -> CommandError {
        let name = error.provider?.rawValue ?? "PROVIDER"
        let (status, next): (ExitStatus, String?) =
            switch error.code {
            case .keyMissing:
                (.hostUnavailable, "pairtool keys set \(name), or pull those of the Mac: pairtool sync --with-keys")
            case .keyRefused, .keyUnusable: (.hostUnavailable, "pairtool keys set \(name)")
            case .forbidden: (.permissionDenied, "look at the account behind the key")
            case .notFound: (.nothingFound, "name another model with --model; where it is asked for: pairtool keys")
            case .rateLimited: (.hostUnavailable, wait(error.retryAfter))
            case .overloaded, .server: (.hostUnavailable, wait(error.retryAfter))
            case .unreachable, .redirected: (.unreachable, "see where it is looked for: pairtool keys")
            case .timedOut: (.timedOut, "try again")
            case .refusedURL: (.usage, "pairtool keys set \(name) --url URL")
            case .streamInterrupted: (.streamInterrupted, "what came of it is kept: pairtool messages CHAT")
            case .noAgent: (.nothingFound, "name an agent with --project: pairtool agents")
            case .unknownProvider: (.hostUnavailable, "pairtool agents")
            case .image: (.usage, nil)
            default: (.failed, nil)
            }
        return CommandError(status, "provider.\(error.code)", error.description, next: next)
    }

    static func lumiStore(_ error: LumiStoreError) -> CommandError {
        let status: ExitStatus = error.code == .neverPulled ? .nothingFound : .failed
        return CommandError(status, "store.\(error.code)", error.message, next: error.remedy)
    }

    private static func wait(_ duration: Duration?) -> String {
        guard let seconds = duration?.components.seconds, seconds > 0 else { return "try again in a while" }
        return "try again in \(seconds) s"
    }
}
