package import CompanionWire

/// The findings about a relay.
package struct RelayCheck: Sendable, Hashable {
    /// The id of the certificate that the relay shows.
    package let shownID: RelayID
    /// The id that its address has; nil: none.
    package let expectedID: RelayID?
    /// The shortest of some round trips of a ping to the relay.
    package let latency: Duration
    /// From the call until the pipe stood at both ends.
    package let openingTime: Duration
    /// Bytes that came out of a pipe in a second, one way, from this machine back to it.
    package let bytesPerSecond: Double

    /// Whether the relay is the one of the address. An address without an id takes any.
    package var isExpected: Bool { expectedID == nil || expectedID == shownID }
}
