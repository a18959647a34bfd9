import CompanionWire
import PairingAgent

extension HostOptions {
    /// The same options, which mean the only host of a family where the user has named none and the default host is of
    /// another: commands that one family has need no `--host` then.
    func preferring(_ family: HostFamily, context: CommandContext) throws -> HostOptions {
        guard host == nil, context.environment["PAIRTOOL_HOST", default: ""].isEmpty else { return self }
        let hosts = try PairedHostStore(directory: context.paths.data).load()
        let others = hosts.hosts.filter { $0.family == family }
        guard hosts.defaultHost?.family != family, let only = others.first, others.count == 1 else { return self }
        var options = self
        options.host = only.id
        return options
    }
}
