import CompanionWire
import Desktop
import FoundationEssentials
import PairingAgent

/// Reads the screen or the clipboard again and again.
struct PolledPlace: Sendable {
    let place: CodePlace
    let environment: AppEnvironment

    /// The time between two reads. Longer for a portal or a clipboard, where each read makes other programs work and
    /// may be visible to the user.
    private var pause: Duration {
        guard place == .screen, case .x11? = try? DesktopScreen(environment: environment.variables) else {
            return .seconds(3)
        }
        return .seconds(1)
    }

    /// - Throws: ``AppError`` or ``DesktopError`` for errors that will not go away: a desktop, library or program
    ///   is missing, or the user refused.
    func run(_ take: @Sendable (CodeEvent) -> Void) async throws {
        var last: CodePlace.Content?
        var lastFailure: String?
        while true {
            do {
                let content = try await place.look(environment: environment)
                // Usually nothing has changed.
                if content != last {
                    last = content
                    let codes = try await content.codes(in: place.name)
                    // Do not report other copied text: it is private.
                    if !content.isText || codes.contains(where: \.content.isPairing) {
                        take(.codes(codes, in: place.name))
                    }
                }
                lastFailure = nil
            } catch let error as DesktopError {
                guard !Self.isFinal(error) else { throw error }
                if error.code != .empty, error.message != lastFailure {
                    lastFailure = error.message
                    take(.failure(AppError(describing: error)))
                }
            } catch is AppError {
                // Usually the screen or clipboard has no code, or no picture at all: not an error.
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
