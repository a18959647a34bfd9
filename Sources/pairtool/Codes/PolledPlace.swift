import CompanionWire
import Desktop
import FoundationEssentials

/// Looks at the screen or into the clipboard again and again.
struct PolledPlace: Sendable {
    let place: CodePlace
    let context: CommandContext

    /// Between two looks. Asking a portal or a clipboard's owner is work for others, and may be seen.
    private var pause: Duration {
        guard place == .screen, case .x11? = try? DesktopScreen(environment: context.environment) else {
            return .seconds(3)
        }
        return .seconds(1)
    }

    /// - Throws: ``CommandError`` or ``DesktopError`` for what will not change by itself: a desktop, library or program
    ///   that is missing, and a user who said no.
    func run(_ take: @Sendable (CodeEvent) -> Void) async throws {
        var last: CodePlace.Content?
        var lastFailure: String?
        while true {
            do {
                let content = try await place.look(context: context)
                // Most of the time nothing has changed.
                if content != last {
                    last = content
                    let codes = try await content.codes(in: place.name)
                    // Other copied text is private.
                    if !content.isText || codes.contains(where: \.isOurs) { take(.codes(codes, in: place.name)) }
                }
                lastFailure = nil
            } catch let error as DesktopError {
                guard !Self.isFinal(error) else { throw error }
                if error.code != .empty, error.message != lastFailure {
                    lastFailure = error.message
                    take(.failure(CommandError(describing: error)))
                }
            } catch is CommandError {
                // Hardly ever is a code on the screen or in the clipboard, nor need there be a picture.
            }
            try await ContinuousClock().sleep(for: pause)
        }
    }

    private static func isFinal(_ error: DesktopError) -> Bool {
        let codes: [DesktopError.Code] = [
            .noScreen, .noClipboard, .noProgram, .missingLibrary, .unsupportedScreen, .noBus, .noAnswer, .refused,
        ]
        return codes.contains(error.code)
    }
}

extension CodePlace.Content {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

extension QRContent {
    fileprivate var isOurs: Bool { if case .foreign = self { false } else { true } }
}
