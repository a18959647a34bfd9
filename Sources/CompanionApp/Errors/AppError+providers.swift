package import CompanionClient
package import PairingAgent
package import Providers

extension ProviderError: DescribedError {
    package var described: AppError {
        let name = provider?.rawValue ?? "PROVIDER"
        let (kind, next): (AppError.Kind, String?) =
            switch code {
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
            case .rateLimited, .overloaded, .server: (.hostUnavailable, Self.wait(retryAfter))
            case .unreachable, .redirected: (.unreachable, "check the provider's address: pairtool lumi keys")
            case .timedOut: (.timedOut, "try again")
            case .refusedURL: (.usage, "pairtool lumi keys set \(name) --url URL")
            case .streamInterrupted: (.streamInterrupted, "see the answer so far: pairtool messages CHAT")
            case .noAgent: (.nothingFound, "choose an agent with --project: pairtool lumi agents")
            case .unknownProvider: (.hostUnavailable, "pairtool lumi agents")
            case .image: (.usage, nil)
            default: (.failed, nil)
            }
        return AppError(kind, "provider.\(code)", description, next: next)
    }

    private static func wait(_ duration: Duration?) -> String {
        guard let seconds = duration?.components.seconds, seconds > 0 else { return "try again in a while" }
        return "try again in \(seconds) s"
    }
}

extension ProviderKeyStoreError: DescribedError {
    package var described: AppError { AppError(.failed, "store.\(code)", message, next: remedy) }
}

// MARK: Lumi and Jarvis

extension LumiStoreError: DescribedError {
    package var described: AppError {
        AppError(code == .neverPulled ? .nothingFound : .failed, "store.\(code)", message, next: remedy)
    }
}

extension LumiInputError: DescribedError {
    package var described: AppError { AppError(.usage, "remote.input", message) }
}

extension JarvisDecisionError: DescribedError {
    package var described: AppError {
        AppError(.failed, "approval.\(code)", description, next: "pairtool approvals")
    }
}
