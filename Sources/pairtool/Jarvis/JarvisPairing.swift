import CompanionClient
import CompanionWire
import Identity
import LocalState

/// Stores a Jarvis daemon. The daemon has no pairing protocol, so this only checks that one answers at the address.
struct JarvisPairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    func run() async throws {
        let (target, output) = (pairing.target, pairing.output)
        guard let endpoint = target.endpoints.first else {
            throw CommandError(
                .usage,
                "pairing.no_tls",
                "Jarvis daemons speak plain HTTP; nothing was sent",
                next: "pairtool pair --family jarvis --url http://\(target.name), with https:// only in --fallback-url"
            )
        }
        // If a daemon is paired again, it keeps its second base URL unless a new one is given.
        let url = pairing.fallbackURL ?? target.record(in: pairing.known)?.fallbackURL ?? ""
        let fallback = url.isEmpty ? nil : JarvisBase(fallback: url)
        if let fallback, fallback.endpoint == nil {
            output.say("Where nothing answers at \(endpoint), decisions go to \(fallback), beyond your network.")
        }
        let token =
            try pairing.token
            ?? target.record(in: pairing.known).flatMap { try JarvisSessions.token(of: $0.id, output.context) }
        let (health, base) = try await JarvisClient.withClient(
            endpoint: endpoint,
            fallback: fallback,
            token: token,
            logger: LoggingSetup.logger("client", context: output.context)
        ) { client in
            let health = try await client.daemonHealth()
            try await checkToken(token, client)
            return (health, client.base)
        }
        if fallback != nil { output.say("Jarvis \(health.version ?? "") answers at \(base).") }
        var host = target.legacyRecord(
            at: endpoint,
            deviceID: pairing.identity.deviceID,
            now: output.context.now()
        )
        host.fallbackURL = fallback.map { _ in url }
        let record = PairingRecord(output: output)
        let outcome = try record.store(host, as: pairing.deviceName, replacing: target.record)
        let secrets = HostSecretStore(directory: output.context.paths.data)
        if let token { try secrets.keep(token, hostID: outcome.host.id) }
        record.show(outcome)
    }

    /// Checks the token with a request that needs it; the daemon's state can be read without one.
    private func checkToken(_ token: String?, _ client: JarvisClient) async throws {
        do {
            _ = try await client.pending()
        } catch let error as CompanionClientError where error.httpStatus == 401 {
            throw CommandError(
                token == nil ? .usage : .wrongCode,
                token == nil ? "pairing.no_code" : "pairing.wrong_token",
                "\(error.message) Nothing was kept",
                next: "give it: pairtool pair --family jarvis --url http://\(pairing.target.name) --token-file FILE"
            )
        } catch let error as CompanionClientError {
            // The daemon answered, so the error is not about its token.
            pairing.output.say("\(error)")
        }
    }
}
