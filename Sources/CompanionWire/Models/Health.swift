/// The answer of `GET /health`. Everything but `ok` depends on the host's make.
package struct CompanionHealthResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// `copilotforge-sidecar` on deployed Macs, `pairtool-host` here.
    package var service: String?
    package var version: String?
    package var nodeVersion: String?
    package var nodeExecPath: String?
    /// Milliseconds since 1970-01-01 UTC.
    package var processStartedAtMs: Double?

    /// The services that speak the companion protocol.
    package static let companionServices: Set<String> = ["copilotforge-sidecar", "pairtool-host"]

    package init(service: String, version: String?, processStartedAtMs: Double?) {
        self.ok = true
        self.service = service
        self.version = version
        self.processStartedAtMs = processStartedAtMs
    }

    /// Whether the host says that it speaks the companion protocol.
    package var isCompanion: Bool {
        service.map(Self.companionServices.contains) ?? false
    }
}

/// The answer of `GET /auth/status`: whether the assistant's account is signed in on the host.
package struct CompanionAuthStatusResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var authenticated: Bool

    package init(authenticated: Bool) {
        self.ok = true
        self.authenticated = authenticated
    }
}
