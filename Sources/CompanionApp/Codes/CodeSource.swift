import CompanionWire
import Desktop
package import PairingAgent

/// A place to watch for codes.
package enum CodeSource: Sendable {
    case directory(String, existing: Bool)
    /// Read again and again.
    case place(CodePlace)
    case frames(FrameInput)

    /// The name in messages.
    var name: String {
        switch self {
        case .directory(let path, _): path
        case .place(let place): "the \(place.name)"
        case .frames(.camera(let device)): device ?? "the camera"
        case .frames(.stream(let file)): PairingPicture.name(file)
        }
    }

    /// Looks for codes until it is cancelled.
    ///
    /// - Parameters:
    ///   - hints: Tells the person who holds a code what to do.
    ///   - ready: Called once every code that appears from now on will be found.
    ///   - take: Gets the findings, one at a time.
    /// - Throws: An error that makes it impossible to find any code.
    func run(
        _ environment: AppEnvironment,
        hints: any CodeHints,
        ready: () -> Void,
        _ take: @Sendable (CodeEvent) -> Void
    ) async throws {
        switch self {
        case .directory(let path, let existing):
            try await PictureWatch(directory: path, existing: existing, environment: environment).run(ready: ready) {
                take($0)
                return true
            }
        case .place(let place):
            // Without a screen it fails at once.
            if place == .screen { _ = try DesktopScreen(environment: environment.variables) }
            ready()
            try await PolledPlace(place: place, environment: environment).run(take)
        case .frames(let input):
            ready()
            try await FrameWatch(input: input, hints: hints).run(take)
        }
    }
}

/// A finding of a ``CodeSource``.
package enum CodeEvent: Sendable {
    /// The contents of a picture's codes.
    case codes([FoundCode], in: String)
    /// A picture could not be read, or shows no code.
    case failure(AppError)
}
