import Discovery

extension DiscoverySurvey {
    /// The error if no host was found.
    var nobody: CommandError {
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
            next: "pairtool pair --url http://ADDRESS:7878, or "
                + (engine == .daemon
                    ? "look again with the other engine: add --engine embedded"
                    : "see what may be in the way: pairtool doctor")
        )
    }
}
