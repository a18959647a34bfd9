/// The packet of a multicast self-test: an mDNS query (RFC 6762) for a name that nobody has, to hear it back, and for
/// the service types of the link (RFC 6763, section 9), to hear others.
struct MulticastQuery: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameter word: Makes the packet differ from any other: 1 to 63 letters and digits.
    init(word: String) {
        // Identifier and flags 0, two questions, no records.
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
        Self.ask(&bytes, ["pairtool-doctor-\(word)", "local"], type: 1)
        Self.ask(&bytes, ["_services", "_dns-sd", "_udp", "local"], type: 12)
        self.bytes = bytes
    }

    private static func ask(_ bytes: inout [UInt8], _ labels: [String], type: UInt8) {
        for label in labels {
            bytes.append(UInt8(label.utf8.count))
            bytes += label.utf8
        }
        // The end of the name, the type, class IN; answers go to the group.
        bytes += [0, 0, type, 0, 1]
    }
}
