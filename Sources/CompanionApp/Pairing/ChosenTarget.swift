package import CompanionWire
import Discovery
import Identity
import LocalState
package import PairingAgent

/// The code of a pairing, as it was given with the command; all nil if the user types it later.
package struct GivenCode: Sendable {
    package var payload: PairingPayload?
    package var token: String?
    /// The host that a QR code with a token names. The token goes nowhere else.
    var target: PairingTarget?
    /// The kind of code that the host has to show; nil for typed digits, which may be for a host of any family.
    var kind: PairingCodeKind?

    /// No code yet.
    package init() {}

    /// Six digits that were typed.
    ///
    /// - Throws: ``AppError`` with `pairing.code_format` for anything else.
    package init(typed line: String) throws {
        guard let code = PairingPayload.code(typed: line) else {
            throw AppError(.usage, "pairing.code_format", "a pairing code has six digits; nothing was sent")
        }
        payload = PairingPayload(code: code, token: nil, expiresAt: nil)
    }

    package init(token: String) {
        (self.token, kind) = (token, .token)
    }

    package init(_ symbol: PairingSymbol) {
        (payload, token) = (symbol.payload, symbol.server?.token)
        kind = token == nil ? .picture : .token
        target = symbol.server.map {
            PairingTarget(endpoint: $0.endpoint, family: symbol.family, isSecure: $0.isSecure)
        }
    }
}

/// The host to pair with, as far as the user named it.
package struct ChosenTarget: Sendable {
    private let host: String?
    private let url: HostURL?
    private let family: HostFamily?
    private let timeout: Duration
    private let environment: AppEnvironment

    /// - Parameters:
    ///   - host: By name or id; nil if the user named none.
    ///   - url: Its address; nil if the user gave none. Not together with `host`.
    ///   - family: Of the host at the address. Default: the usual one.
    ///   - timeout: How long to look for hosts.
    package init(
        host: String?,
        url: HostURL?,
        family: HostFamily?,
        timeout: Duration,
        environment: AppEnvironment
    ) {
        (self.host, self.url, self.family) = (host, url, family)
        (self.timeout, self.environment) = (timeout, environment)
    }

    /// Finds the host that a code is for: the one that the code or the user names, or the only one in sight.
    ///
    /// - Throws: ``AppError``, among others with `pairing.foreign_host` where code and user name different hosts.
    package func find(for code: GivenCode) async throws -> PairingTarget {
        if let target = code.target { return try required(target) }
        if let url { return try PairingTarget(local: url, family: family ?? .usual) }
        if let payload = code.payload, host == nil, payload.spki != nil, let named = PairingTarget(payload: payload) {
            return named
        }
        if let hostID = namedID(code.payload) {
            return try await finder().find(hostID: hostID, expiresAt: code.payload?.expiresAt)
        }
        let families = HostFamily.allCases.filter { family in
            code.kind.map { family.behavior.facts.codes.contains($0) && family.behavior.facts.isAdvertised } ?? true
        }
        return try await finder().find(host, among: families, expiresAt: code.payload?.expiresAt)
    }

    /// The host that a QR code names, unless the user named another one.
    private func required(_ target: PairingTarget) throws -> PairingTarget {
        let isNamed = url.map { target.allEndpoints == [$0.endpoint(of: target.family)] } ?? true
        guard host.map(target.matches) ?? true, isNamed else {
            throw AppError(
                .usage,
                "pairing.foreign_host",
                "the QR code is for the \(target.family.displayName) host at \(target.name), but you named another host; "
                    + "nothing was sent",
                next: "do not name a host: pairtool pair --qr FILE"
            )
        }
        return target
    }

    /// Looks for the advertised address of the host in a QR code, in case the address in the code does not lead to it;
    /// nil where no code names a host with its address.
    package func elsewhere(
        than payload: PairingPayload?
    ) throws -> (@Sendable () async throws -> PairingTarget)? {
        guard let payload, let hostID = namedID(payload), PairingTarget(payload: payload) != nil else { return nil }
        let finder = try finder()
        return { try await finder.find(hostID: hostID, expiresAt: payload.expiresAt) }
    }

    /// The id of the host that a QR code names with its key, if the user named no host.
    private func namedID(_ payload: PairingPayload?) -> String? {
        url == nil && host == nil && payload?.spki != nil ? payload?.host : nil
    }

    private func finder() throws -> PairingTargetFinder {
        PairingTargetFinder(
            interaction: environment.interaction,
            client: try environment.discoveryClient(),
            limit: timeout,
            known: try PairedHostStore(directory: environment.paths.data).load()
        )
    }
}
