import ArgumentParser
import CompanionApp

/// Which paired host a command uses.
struct HostOptions: ParsableArguments {
    @Option(
        name: .customLong("host"),
        help:
            "The paired host, by name, id prefix or ADDRESS[:PORT]. Default: $PAIRTOOL_HOST, then the default host.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @Option(help: ArgumentHelp("Refuse a host that is not verified (exit code 13).", valueName: "trust"))
    var require: RequiredTrust?

    @Flag(help: "Accept a legacy host at a new address without asking.")
    var allowLegacy = false

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions

    var selector: HostSelector {
        HostSelector(name: host, required: require, allowsLegacy: allowLegacy, discovery: discovery.choice)
    }
}

/// Whether a command may answer from what is known of the host.
struct KnownOptions: ParsableArguments {
    @Flag(help: "Do not ask the host: show what was listed and read before.")
    var offline = false

    var mode: ReadMode { offline ? .history : .hostElseHistory }
}
