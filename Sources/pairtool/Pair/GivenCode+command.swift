import CompanionApp
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import Terminal

extension GivenCode {
    /// Reads the code from the source that a command line names; there is none yet if it names none.
    ///
    /// - Throws: ``AppError`` if there is no code, or if one is needed and nobody can be asked.
    init(_ command: PairCommand, output: Output) async throws {
        let (context, environment) = (output.context, output.environment())
        if let place = command.places.places.first ?? command.qr.map(CodePlace.file) {
            self.init(try await place.symbol(environment: environment))
            return
        }
        if let directory = command.places.watch {
            let watch = PictureWatch(
                directory: directory,
                existing: command.places.existing,
                environment: environment
            )
            self.init(try await watch.firstSymbol())
            return
        }
        if let input = command.places.frames.input {
            let reading = FrameReading(
                input: input,
                interaction: environment.interaction,
                hints: HintLine(output)
            )
            self.init(try await reading.symbol())
            return
        }
        if let file = command.tokenFile {
            self.init(token: try await context.token(in: file))
            return
        }
        guard command.codeStdin else {
            // Hosts of some families need consent or ask for a token instead. If the user named the host, its family
            // is known only once the host is found.
            let needsCode =
                command.url == nil
                ? command.host == nil : (command.family ?? .usual).behavior.facts.codes.contains(.picture)
            guard context.canAsk || command.pairing.allowLegacy || !needsCode else { throw AppError.noPairingCode }
            self.init()
            return
        }
        let input = context.stdin
        let line = try await BlockingCall.run { try input.readLine() } ?? ""
        try self.init(typed: line)
    }

    /// If the host of a code that looks expired could not be asked, the code is the more likely reason. While the host
    /// answers, its clock decides.
    func explaining(_ error: any Error, now: Date) -> any Error {
        guard let end = payload?.expiresAt, end <= now, !(error is CancellationError) else { return error }
        let failure = AppError(describing: error)
        guard [.nothingFound, .unreachable, .timedOut].contains(failure.kind) else { return error }
        return AppError(
            .pairingExpired,
            "pairing.expired",
            "the code expired \(TimeText.span(now.timeIntervalSince(end))) ago, by this machine's clock, and its host "
                + "could not be asked: \(failure.message)",
            next: "show a new code on the host, then: pairtool pair"
        )
    }
}
