import CAvahi

/// Avahi's anonymous enumerations, which arrive as `Int`, in the types that its functions take.
enum AvahiConstant {
    static let anyInterface = AvahiIfIndex(AVAHI_IF_UNSPEC)
    static let anyProtocol = AvahiProtocol(AVAHI_PROTO_UNSPEC)
    static let ipv4 = AvahiProtocol(AVAHI_PROTO_INET)
    static let ipv6 = AvahiProtocol(AVAHI_PROTO_INET6)
    static let ok = Int32(AVAHI_OK)
    static let collision = Int32(AVAHI_ERR_COLLISION)
    static let noSuchName = Int32(AVAHI_ERR_DNS_NXDOMAIN)
    static let disconnected = Int32(AVAHI_ERR_DISCONNECTED)
    static let noLookupFlags = AvahiLookupFlags(rawValue: 0)
    static let noPublishFlags = AvahiPublishFlags(rawValue: 0)
}

/// An error number of Avahi with its text.
struct AvahiFailure: Error, CustomStringConvertible {
    var number: Int32

    var description: String {
        avahi_strerror(number).map { String(cString: $0) } ?? "Avahi error \(number)"
    }
}

/// Throws the error of a status that is not OK.
func check(
    _ status: Int32,
    code: DiscoveryError.Code,
    message: @autoclosure () -> String,
    fileID: String = #fileID,
    line: Int = #line
) throws(DiscoveryError) {
    guard status < AvahiConstant.ok else { return }
    throw .avahi(status, code: code, message: message(), fileID: fileID, line: line)
}

extension DiscoveryError {
    /// The one place where Avahi's error numbers become errors.
    ///
    /// - Parameter code: The code where the number does not call for another.
    static func avahi(
        _ number: Int32,
        code: Code,
        message: String,
        fileID: String = #fileID,
        line: Int = #line
    ) -> DiscoveryError {
        let actual: Code =
            switch number {
            case AvahiConstant.collision: .nameCollision
            case AvahiConstant.disconnected: .engineLost
            default: code
            }
        return DiscoveryError(
            actual,
            message: message,
            underlying: AvahiFailure(number: number),
            fileID: fileID,
            line: line
        )
    }
}
