import Discovery
import FoundationEssentials

/// What there is to say of a look around the network that found nobody.
package struct BlankSurvey: Codable, Hashable, Sendable {
    private var engine: DiscoveryEngineKind
    private var isSettled: Bool
    private var problem: String?

    init(_ survey: DiscoverySurvey) {
        engine = survey.engine
        isSettled = survey.isSettled
        problem = survey.problem
    }

    /// Reads what ``text`` wrote.
    ///
    /// - Throws: `DecodingError`.
    package init(text: String) throws {
        self = try JSONDecoder().decode(BlankSurvey.self, from: Data(text.utf8))
    }

    /// For a command line.
    package var text: String {
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    package var error: CommandError {
        guard isSettled else {
            return CommandError(
                .timedOut,
                "discovery.timed_out",
                "no host was found in time" + (problem.map { ": \($0)" } ?? ""),
                next: "pairtool discover --timeout 30"
            )
        }
        return CommandError(
            .nothingFound,
            "discovery.none",
            """
            no host was found (\(engine.rawValue) mDNS engine). Deployed CopilotForge Macs do not advertise \
            themselves: those are named by address
            """,
            next: "pairtool pair --url http://ADDRESS:7878, or try the other engine: pairtool discover --engine "
                + (engine == .daemon ? "embedded" : "daemon")
        )
    }
}
