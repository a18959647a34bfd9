import CommandCore
import Discovery

extension QuickCommand {
    /// How a command line ended that this program saw to.
    enum Outcome: Sendable {
        case ended(ExitStatus)
        /// The whole tool has the last word, and shall know this.
        case handedOver(BlankSurvey)
    }

    /// Blocks until it is done.
    ///
    /// - Parameter query: What the daemon was asked already. Default: nothing.
    func run(_ context: CommandContext, after query: InheritedQuery? = nil) -> Outcome {
        switch self {
        case .version:
            Output(context: context, format: .text).data(Version.text)
            return .ended(.done)
        case .scan(let files, let format, let showSecrets):
            let output = Output(context: context, format: format)
            return Self.outcome(output) { try Self.scan(files, output, showSecrets: showSecrets) }
        case .discover(let types, let first, let choice, let format):
            let output = Output(context: context, format: format)
            // The runtime of concurrency is set up meanwhile, which takes as long.
            if let engine = try? choice.engine(context: context), engine != .embedded {
                CompanionDiscoveryClient.connectAhead()
            }
            query?.closeLater()
            let listing = HostListing(types: types, first: first, choice: choice)
            return MainTask.run {
                do {
                    // After a list there is an engine to be shut down, which the end of the process does sooner.
                    let survey = try await listing.run(output, afterList: { Main.end(.done, json: format == .json) })
                    guard let survey else { return .ended(.done) }
                    // A signal may have come while the engine was shut down.
                    try Task.checkCancellation()
                    return .handedOver(survey)
                } catch {
                    return .ended(output.status(after: error))
                }
            }
        }
    }

    private static func outcome(_ output: Output, _ body: () throws -> Void) -> Outcome {
        do {
            try body()
            return .ended(.done)
        } catch {
            return .ended(output.status(after: error))
        }
    }

    private static func scan(_ files: [String], _ output: Output, showSecrets: Bool) throws {
        var report = ScanReport(output: output, showSecrets: showSecrets)
        for file in files {
            do {
                report.add(try PairingPicture.read(file, context: output.context), from: file)
            } catch let failure as CommandError {
                report.add(failure)
            }
        }
        try report.finish()
    }
}
