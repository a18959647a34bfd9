import ArgumentParser

/// Where else than in named pictures codes are looked for.
struct CodePlaceOptions: ParsableArguments {
    @Option(
        help: "Wait for pictures that are saved in this directory, and read each once it is complete.",
        completion: .directory
    )
    var watch: String?

    @Flag(help: "With --watch: read the pictures that are already there, too.")
    var existing = false

    @Flag(help: "Look at the screen: X11, or Wayland by way of the desktop portal.")
    var screen = false

    @Flag(help: "Look into the clipboard, for a picture or the code's text (needs wl-paste or xclip).")
    var clipboard = false

    @OptionGroup var frames: FrameOptions

    mutating func validate() throws {
        if existing, watch == nil { throw ValidationError("--existing belongs to --watch.") }
        if watch?.isEmpty == true { throw ValidationError("--watch takes a directory.") }
    }

    /// Where to look once.
    var places: [CodePlace] { (screen ? [.screen] : []) + (clipboard ? [.clipboard] : []) }

    /// How many of them are named.
    var count: Int { places.count + (watch == nil ? 0 : 1) + (frames.input == nil ? 0 : 1) }
}
