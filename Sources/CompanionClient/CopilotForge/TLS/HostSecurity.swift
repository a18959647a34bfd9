/// How a client speaks to its host.
package enum HostSecurity: Sendable, Hashable {
    /// HTTP, by protocol v1: nothing is proven, everything can be read.
    case plain
    /// TLS 1.3 that ends at this certificate, by protocol v2.
    case pinned(PinnedCertificate)

    /// The certificate of a pinned connection.
    package var certificate: PinnedCertificate? {
        if case .pinned(let certificate) = self { certificate } else { nil }
    }
}
