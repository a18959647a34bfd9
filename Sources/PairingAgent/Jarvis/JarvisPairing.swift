internal import CompanionClient
internal import CompanionWire
internal import Identity

/// Stores a Jarvis daemon. The daemon has no pairing protocol, so this only checks that one answers at the address.
package struct JarvisPairing: Sendable {
    private let target: PairingTarget
    private let device: PairingDevice
    private let token: String?
    private let fallbackURL: String?
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - token: The token, if the user gave it.
    ///   - fallbackURL: The second base URL of the daemon; an empty one removes the earlier one.
    ///   - say: Tells the user what was found.
    package init(
        target: PairingTarget,
        device: PairingDevice,
        token: String?,
        fallbackURL: String?,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.target = target
        self.device = device
        self.token = token
        self.fallbackURL = fallbackURL
        self.say = say
    }

    /// Checks that the daemon answers and accepts the token, and stores its record and the token.
    ///
    /// - Throws: ``PairingError``, `CompanionClientError`, the errors of the stores.
    package func run() async throws -> PairingOutcome {
        guard let endpoint = target.endpoints.first else {
            throw PairingError(
                .noPlainAddress,
                "Jarvis daemons speak plain HTTP; nothing was sent",
                advice:
                    "pairtool pair --family jarvis --url http://\(target.name), with https:// only in --fallback-url"
            )
        }
        let earlier = target.record(in: try PairedHostStore(directory: device.data).load())
        // If a daemon is paired again, it keeps its second base URL unless a new one is given.
        let url = fallbackURL ?? earlier?.fallbackURL ?? ""
        let fallback = url.isEmpty ? nil : JarvisBase(fallback: url)
        if let fallback, fallback.endpoint == nil {
            say("If \(endpoint) does not answer, decisions are sent to \(fallback), outside your network.")
        }
        let secrets = HostSecretStore(directory: device.data)
        let token = try token ?? earlier.flatMap { try secrets.load(hostID: $0.id) }
        let (health, base) = try await JarvisClient.withClient(
            endpoint: endpoint,
            fallback: fallback,
            token: token,
            logger: device.logger("client")
        ) { client in
            let health = try await client.daemonHealth()
            try await checkToken(token, with: client)
            return (health, client.base)
        }
        if fallback != nil { say("Jarvis \(health.version ?? "") answers at \(base).") }
        var host = target.legacyRecord(at: endpoint, of: device)
        host.fallbackURL = fallback.map { _ in url }
        let outcome = try device.store(host, replacing: target.record)
        if let token { try secrets.keep(token, hostID: outcome.host.id) }
        return outcome
    }

    /// Checks the token with a request that needs it; the daemon's state can be read without one.
    private func checkToken(_ token: String?, with client: JarvisClient) async throws {
        do {
            _ = try await client.pending()
        } catch let error as CompanionClientError where error.httpStatus == 401 {
            throw PairingError(
                token == nil ? .noToken : .wrongToken,
                "\(error.message) Nothing was kept",
                advice: "give it: pairtool pair --family jarvis --url http://\(target.name) --token-file FILE"
            )
        } catch let error as CompanionClientError {
            // The daemon answered, so the error is not about its token.
            say("\(error)")
        }
    }
}
