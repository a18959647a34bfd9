/// How a program gets a connection to the bus from the one that it was before.
package enum InheritedConnection {
    /// The environment variable that has the number of its descriptor.
    package static var variable: String { "PAIRTOOL_DAEMON_QUERY" }
}
