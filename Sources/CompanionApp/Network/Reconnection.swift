/// The rhythm in which hosts that do not answer are looked for.
package enum Reconnection {
    /// The pause between two searches for a host that was not found.
    package static let pause = Duration.seconds(5)
    /// Failed connections in a row after which a watched host is searched for at other addresses.
    package static let patience = 2
}
