import ArgumentParser
import Terminal

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line (see docs/json.md).")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only ids, or the answer.")
    var quiet = false

    mutating func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet cannot be used together.") }
    }

    var output: Output {
        Output(context: .current, format: json ? .json : quiet ? .quiet : .text)
    }
}

/// How the text of messages is shown.
struct RenderingOptions: ParsableArguments {
    @Flag(help: "Print messages as they are. Default: render Markdown on a terminal with colours.")
    var plain = false
}

/// Whether long output is shown in a pager.
struct PagerOptions: ParsableArguments {
    @Flag(name: .customLong("no-pager"), help: "Do not page long output. Default: on a terminal, $PAGER or less.")
    var avoidsPager = false
}
