import ArgumentParser
import CompanionApp

/// The places to look for codes in, besides the named pictures.
struct CodePlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Wait for pictures to be saved in this directory.", valueName: "dir"),
        completion: .directory
    )
    var watch: String?

    @Flag(help: "With --watch: also read the pictures that are already there.")
    var existing = false

    @Flag(help: "Look for a code on the screen (X11, or Wayland through the desktop portal).")
    var screen = false

    @Flag(help: "Look for a picture or the code's text on the clipboard (needs wl-paste or xclip).")
    var clipboard = false

    @OptionGroup var frames: FrameOptions

    mutating func validate() throws {
        if existing, watch == nil { throw ValidationError("--existing needs --watch.") }
        if watch?.isEmpty == true { throw ValidationError("--watch needs a directory.") }
    }

    /// The places that are read once.
    var places: [CodePlace] { (screen ? [.screen] : []) + (clipboard ? [.clipboard] : []) }

    /// How many places the user named.
    var count: Int { places.count + (watch == nil ? 0 : 1) + (frames.input == nil ? 0 : 1) }
}

extension CodePlaceOptions {
    /// All named places, as sources to watch.
    var sources: [CodeSource] {
        (watch.map { [.directory($0, existing: existing)] } ?? []) + places.map(CodeSource.place)
            + (frames.input.map { [.frames($0)] } ?? [])
    }
}
