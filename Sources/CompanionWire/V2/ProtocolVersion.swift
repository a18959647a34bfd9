/// The versions of the companion protocol that this build speaks, and how they are named.
package enum ProtocolVersion {
    /// The header of a request that says which version it speaks; absent means 1.
    package static let header = "X-CopilotForge-Companion-Version"
    package static let minimum = 1
    package static let maximum = 2
}
