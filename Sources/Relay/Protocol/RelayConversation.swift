/// A conversation with a relay in protocol mode, without the connection on which it is held.
protocol RelayConversation: Sendable {
    /// Returns what has to be done about an event, in that order. After ``RelayAction/fail(_:)`` it returns nothing
    /// more.
    mutating func handle(_ event: RelayEvent) -> [RelayAction]
}

/// Something that happens on a connection in protocol mode.
enum RelayEvent: Sendable, Hashable {
    /// TLS is up.
    case connected
    case message(RelayMessage)
    /// Nothing has come for a minute (``RelayClient/silence``), or for another one.
    case silence
}

/// Something that a conversation wants done.
enum RelayAction: Sendable {
    case send(RelayMessage)
    /// The relay lets others call from now on.
    case joined
    case invited(RelayInvitation)
    /// The relay has answered a ping.
    case ponged
    /// The conversation is over; the connection has to be closed.
    case fail(RelayError)
}
