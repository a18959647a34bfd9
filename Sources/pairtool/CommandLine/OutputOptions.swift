import ArgumentParser

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line (see docs/json.md).")
    var json = false

    @Flag(name: .shortAndLong, help: "Print ids only.")
    var quiet = false

    mutating func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet cannot be used together.") }
    }

    /// The output of the running command.
    var output: Output {
        Output(context: .current, format: json ? .json : quiet ? .quiet : .text)
    }
}
