import CompanionWire

/// Builds of hosts that lack requests of the protocol.
extension CompanionAPIClient {
    /// Tells a host that does not know a request yet from another service.
    ///
    /// Builds of February 2026 pair, and have no projects. Their answer to an unknown request is a page, as that of any
    /// web server is; only `/health` says that they are companion hosts.
    ///
    /// - Parameter error: A failure with status 404.
    func explained(_ error: CompanionClientError, of request: CompanionRequest) async -> CompanionClientError {
        guard error.code == .notACompanion || error.code == .notFound && request.namesNothing, !request.isAnonymous,
            let health = try? await health(), health.isCompanion
        else { return error }
        var error = error
        error.code = .unsupportedVersion
        error.message = "\(target) is an older build, which has no \(request.subject) yet."
        error.hostText = nil
        error.advice =
            health.protocolVersions == nil ? "update the app on the host" : "update pairtool on the host"
        return error
    }
}

extension CompanionRequest {
    /// The names of the things that hosts list, as they occur in paths.
    private static let subjects: Set<String> = [
        "projects", "chats", "messages", "devices", "models", "approvals", "sessions",
    ]

    private var words: [String] {
        let path = target.cut(at: "?")?.before ?? target[...]
        return path.parts("/").map(String.init)
    }

    /// The subject of the request, in words.
    fileprivate var subject: String {
        words.last { Self.subjects.contains($0) } ?? "such request"
    }

    /// Whether the request is for a whole list: an answer that it was not found is not about an item.
    fileprivate var namesNothing: Bool {
        isRepeatable && words.last.map(Self.subjects.contains) ?? false && words.count <= 2
    }
}
