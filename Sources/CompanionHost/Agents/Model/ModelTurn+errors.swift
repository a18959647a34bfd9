import CompanionWire
import Providers

extension ModelTurn {
    /// An error for people.
    func described(_ error: ProviderError) async throws -> AgentError {
        let name = launch.endpoint.name
        let text: String
        switch error.code {
        case .keyRefused: text = keyText
        case .forbidden:
            text =
                "\(name) refuses the request\(says(error)). "
                + (launch.keyPlace.map { "Check at the host what its key may do: \($0)" } ?? "The host sends it no key")
        case .notFound: text = try await modelText(error)
        case .rateLimited, .overloaded:
            let reason = error.code == .overloaded ? "is busy" : "limits requests"
            let wait = error.retryAfter.map { "It asks to wait \($0.components.seconds) s" } ?? "Try again later"
            text = "\(name) \(reason)\(says(error)). \(wait)"
        case .contextOverflow:
            text =
                "The conversation is too long for \(model)\(says(error)). Start a new chat, or have the host started with "
                + "the --context that the model has"
        case .tooLarge where error.httpStatus == 413:
            text = "The conversation is too long for \(name). Start a new chat, or ask for less at a time"
        default: text = Self.withoutStop(error.message) + says(error)
        }
        return AgentError(message: text)
    }

    private var keyText: String {
        let way = "pairtool lumi keys set openai, or OPENAI_API_KEY, then start the host again"
        guard let place = launch.keyPlace else {
            return
                "\(launch.endpoint.name) wants a key, and the host sends it none: keys go over https:// only, and not "
                + "to this machine itself. At the host: \(way)"
        }
        return "\(launch.endpoint.name) rejected the key from \(place). At the host: \(way)"
    }

    /// Returns the text of an error about a model that the server does not have, or does not answer with: it names some
    /// that it has, or what to check.
    private func modelText(_ error: ProviderError) async throws -> String {
        let name = launch.endpoint.name
        let known: [String]
        do {
            known = try await client.models(at: launch.endpoint).map { TerminalText.line($0).scalars(atMost: 200) }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return "\(name) has no model “\(model)” at that address\(says(error as? ProviderError)). "
                + "Check --url at the host: it usually ends with /v1"
        }
        guard !known.contains(where: { $0.isSame(as: model) }) else {
            return "\(name) lists \(model), but does not answer with it\(says(error))"
        }
        let nearest = NearestWord.of(model, in: known)
        let listed = ((nearest.map { [$0] } ?? []) + known.filter { nearest?.isSame(as: $0) != true }).prefix(5)
        let more = known.count > listed.count ? " and \(known.count - listed.count) more" : ""
        return "\(name) does not have the model “\(model)”. It has "
            + (listed.isEmpty ? "none" : listed.joined(separator: ", ") + more)
    }

    private func says(_ error: ProviderError?) -> String {
        guard let text = error?.providerText, !text.isEmpty else { return "" }
        return " (it says: \(Self.withoutStop(TerminalText.line(text).scalars(atMost: 300))))"
    }

    private static func withoutStop(_ text: String) -> String {
        text.dropping(suffix: ".").map(String.init) ?? text
    }
}
