import CompanionWire
import Desktop

/// A place where codes show up while one waits for them.
enum CodeSource: Sendable {
    case directory(String, existing: Bool)
    /// Looked at every now and then.
    case place(CodePlace)
    case frames(FrameInput)

    /// What it is called in messages.
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
    ///   - ready: Called when no code that shows up from now on escapes.
    ///   - take: Gets what was found, one after the other.
    /// - Throws: What keeps it from ever finding any.
    func run(output: Output, ready: () -> Void, _ take: @Sendable (CodeEvent) -> Void) async throws {
        let context = output.context
        switch self {
        case .directory(let path, let existing):
            try await PictureWatch(directory: path, existing: existing, context: context).run(ready: ready) {
                take($0)
                return true
            }
        case .place(let place):
            // Without a screen there is nothing to look at.
            if place == .screen { _ = try DesktopScreen(environment: context.environment) }
            ready()
            try await PolledPlace(place: place, context: context).run(take)
        case .frames(let input):
            ready()
            try await FrameWatch(input: input, output: output).run(take)
        }
    }
}

extension CodePlaceOptions {
    /// The places as sources that are watched.
    var sources: [CodeSource] {
        (watch.map { [.directory($0, existing: existing)] } ?? []) + places.map(CodeSource.place)
            + (frames.input.map { [.frames($0)] } ?? [])
    }
}

/// What a place where codes show up has brought.
enum CodeEvent: Sendable {
    /// What the codes of a picture hold.
    case codes([QRContent], in: String)
    /// There was something that could not be read, or that is no picture of a code.
    case failure(CommandError)
}
