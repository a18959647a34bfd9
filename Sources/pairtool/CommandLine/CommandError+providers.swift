import CompanionClient
import Providers

extension CommandError {
    /// Converts a provider's error to one that the command line reports.
    static func provider(_ error: ProviderError) -> CommandError {
        let name = error.provider?.rawValue ?? "PROVIDER"
        let (status, next): (ExitStatus, String?) =
            switch error.code {
            case .keyMissing:
                (
                    .hostUnavailable,
                    "pairtool lumi keys set \(name), or pull the Mac's keys: pairtool lumi sync --with-keys"
                )
            case .keyRefused, .keyUnusable: (.hostUnavailable, "pairtool lumi keys set \(name)")
            case .forbidden: (.permissionDenied, "check the account that the key belongs to")
            case .notFound:
                (
                    .nothingFound,
                    "choose another model with --model, or check the provider's address: pairtool lumi keys"
                )
            case .rateLimited: (.hostUnavailable, wait(error.retryAfter))
            case .overloaded, .server: (.hostUnavailable, wait(error.retryAfter))
            case .unreachable, .redirected: (.unreachable, "check the provider's address: pairtool lumi keys")
            case .timedOut: (.timedOut, "try again")
            case .refusedURL: (.usage, "pairtool lumi keys set \(name) --url URL")
            case .streamInterrupted: (.streamInterrupted, "see the answer so far: pairtool messages CHAT")
            case .noAgent: (.nothingFound, "choose an agent with --project: pairtool lumi agents")
            case .unknownProvider: (.hostUnavailable, "pairtool lumi agents")
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
