import ArgumentParser
import CompanionApp

/// Whether a command may answer from what is known of the host.
struct KnownOptions: ParsableArguments {
    @Flag(help: "Do not ask the host: show what was listed and read before.")
    var offline = false

    var mode: ReadMode { offline ? .history : .hostElseHistory }
}
