import ArgumentParser

/// Where else than in named pictures codes are looked for.
struct CodePlaceOptions: ParsableArguments {
    @Option(
        help: "Wait for pictures that are saved in this directory.",
        completion: .directory
    )
    var watch: String?

    @Flag(help: "With --watch: also read the pictures that are already there.")
    var existing = false

    @Flag(help: "Look at the screen (X11, or Wayland through the desktop portal).")
    var screen = false

    @Flag(help: "Look for a picture or the code's text in the clipboard (needs wl-paste or xclip).")
    var clipboard = false

    @OptionGroup var frames: FrameOptions

    mutating func validate() throws {
        if existing, watch == nil { throw ValidationError("--existing needs --watch.") }
        if watch?.isEmpty == true { throw ValidationError("--watch needs a directory.") }
    }

    /// Where to look once.
    var places: [CodePlace] { (screen ? [.screen] : []) + (clipboard ? [.clipboard] : []) }

    /// How many of them are named.
    var count: Int { places.count + (watch == nil ? 0 : 1) + (frames.input == nil ? 0 : 1) }
}
