package import Providers

/// The targets of a host's notifications, and how much these say.
package struct NotifySettings: Sendable, Hashable {
    /// How much of a question leaves the machine.
    package enum Detail: String, Sendable, CaseIterable {
        /// That an agent asks, and where.
        case none
        /// Also what it wants to do: the title of its tool call.
        case title
    }

    /// The targets, each once. Default: none.
    package var targets: [NotifyTarget]
    package var detail: Detail
    /// Sent as a bearer token; nil where the servers need none.
    package var token: ProviderKey?
    /// How long a question waits for its answer first, while a device is connected. Default: 10 s.
    package var patience = Duration.seconds(10)
    /// Turns that take at least this long are told when they end. Default: a minute.
    package var longTurn = Duration.seconds(60)
    /// How long the end of the host may be put off, to tell that a question is over. Default: 1 s.
    package var shutdown = Duration.seconds(1)
    /// How long a server may take for its answer. Default: 15 s.
    package var limit = Duration.seconds(15)
    /// The pauses before a message that a server did not take is sent again. Default: 2 s to 2 minutes, four times.
    package var pauses: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .seconds(120)]

    package init(targets: [NotifyTarget] = [], detail: Detail = .none, token: ProviderKey? = nil) {
        (self.targets, self.detail, self.token) = (targets, detail, token)
    }
}
