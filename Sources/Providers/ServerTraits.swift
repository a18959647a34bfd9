import CompanionWire
import NIOConcurrencyHelpers

/// The facts that were learned about servers from their answers: the path of their interface, and the features that
/// they refuse.
package final class ServerTraits: Sendable {
    struct Traits: Sendable, Hashable {
        var omitted: Set<ProviderFeature> = []
        /// Between the base URL and the paths of the interface.
        var path = ""
    }

    private struct Key: Hashable {
        var url: ProviderURL
        var model: ByteText
    }

    private struct State {
        var omitted: [Key: Set<ProviderFeature>] = [:]
        /// Of base URLs without a version.
        var paths: [ProviderURL: String] = [:]
        /// The error at a base URL without a version, while the same URL with a version is tried.
        var first: [ProviderURL: ProviderError] = [:]
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    func traits(of endpoint: ProviderEndpoint, model: String) -> Traits {
        state.withLockedValue { state in
            let key = Key(url: endpoint.url, model: ByteText(model))
            return Traits(omitted: state.omitted[key] ?? [], path: state.paths[endpoint.url] ?? "")
        }
    }

    func path(of endpoint: ProviderEndpoint) -> String { state.withLockedValue { $0.paths[endpoint.url] ?? "" } }

    /// Learns what an error says, with which nothing of an answer came.
    ///
    /// - Returns: Whether the prompt is worth another request.
    func learn(from error: ProviderError, of prompt: ProviderPrompt, at endpoint: ProviderEndpoint) -> Bool {
        if learnPath(from: error, of: endpoint) { return true }
        guard [.badRequest, .server, .notFound, .badAnswer].contains(error.code) else { return false }
        return state.withLockedValue { state in
            let key = Key(url: endpoint.url, model: ByteText(prompt.model))
            let omitted = state.omitted[key] ?? []
            guard
                let refused = ProviderFeature.refused(in: error.providerText ?? "", of: prompt, besides: omitted),
                refused != .tools
            else { return false }
            state.omitted[key] = omitted.union([refused])
            return true
        }
    }

    /// Tries a base URL without a version as one with the usual version, once.
    func learnPath(from error: ProviderError, of endpoint: ProviderEndpoint) -> Bool {
        guard endpoint.provider == .openai, error.isElsewhere, !endpoint.url.hasVersion else { return false }
        return state.withLockedValue { state in
            guard state.paths[endpoint.url] == nil else { return false }
            state.paths[endpoint.url] = "/v1"
            state.first[endpoint.url] = error
            return true
        }
    }

    /// The error to report: of two addresses that both do not have the interface, the one that was given counts, unless
    /// the other one says that it has no such model.
    func telling(_ error: ProviderError, at endpoint: ProviderEndpoint) -> ProviderError {
        state.withLockedValue { state in
            guard let first = state.first.removeValue(forKey: endpoint.url), error.isElsewhere else { return error }
            state.paths[endpoint.url] = nil
            return error.providerText?.lowercased().has("model") == true ? error : first
        }
    }
}

extension ProviderError {
    /// Whether it says that the interface is not at the address: pages of another service, unknown paths.
    fileprivate var isElsewhere: Bool {
        let text = providerText?.lowercased() ?? ""
        return [404, 405].contains(httpStatus) || code == .badAnswer || text.has("unexpected endpoint")
    }

    /// Whether the server says that the model, or the server, takes no tools.
    package var refusesTools: Bool { ProviderFeature.tools.isRefused(in: providerText ?? "") }
}

extension ProviderURL {
    /// Whether the path has a version, such as `/v1` or `/v1beta`.
    fileprivate var hasVersion: Bool {
        path.parts("/").contains { part in
            let bytes = Array(part.utf8)
            return bytes.count > 1 && bytes[0] == UInt8(ascii: "v")
                && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[1])
        }
    }
}
