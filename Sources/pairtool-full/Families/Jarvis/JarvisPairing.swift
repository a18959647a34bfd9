import CommandCore
import CompanionClient
import CompanionWire
import PairingAgent

/// Records a Jarvis daemon. It has no pairing: that something answers there as one is all that can be known.
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
        let known = try PairedHostStore(directory: output.context.paths.data).load()
        // One that is recorded again keeps its second base URL until it is told otherwise.
        let url = pairing.fallbackURL ?? target.record(in: known)?.fallbackURL ?? ""
        let fallback = url.isEmpty ? nil : JarvisBase(fallback: url)
        if let fallback, fallback.endpoint == nil {
            output.say("Where nothing answers at \(endpoint), decisions go to \(fallback), beyond your network.")
        }
        let (health, base) = try await JarvisClient.withClient(
            endpoint: endpoint,
            fallback: fallback,
            logger: LoggingSetup.logger("client", context: output.context)
        ) { (try await $0.daemonHealth(), $0.base) }
        if fallback != nil { output.say("Jarvis \(health.version ?? "") answers at \(base).") }
        var host = target.legacyRecord(
            at: endpoint,
            deviceID: pairing.identity.deviceID,
            now: output.context.now()
        )
        host.fallbackURL = fallback.map { _ in url }
        try PairingRecord(output: output).keep(host, as: pairing.deviceName, replacing: target.record)
    }
}
