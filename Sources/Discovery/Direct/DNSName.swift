import CompanionWire

/// A domain name as a list of labels, each 1 to 63 bytes of anything.
struct DNSName: Hashable, Sendable {
    var labels: [[UInt8]]

    init(_ labels: [[UInt8]]) {
        self.labels = labels
    }

    /// The name of a service instance (RFC 6763, section 4.1).
    init(_ instance: ServiceInstance) {
        labels = [instance.name] + Self.parts(instance.type.rawValue) + Self.parts(instance.domain)
    }

    private static func parts(_ text: String) -> [[UInt8]] {
        text.parts(".").map { Array($0.utf8) }
    }

    /// The labels with ASCII letters in lower case: names are compared without case (RFC 1035, section 2.3.3).
    var folded: DNSName {
        DNSName(labels.map { label in label.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 } })
    }

    /// As text, dots and backslashes within labels escaped, what is not UTF-8 repaired.
    var text: String {
        labels.map { label in
            String(decoding: label.flatMap(Self.escaped), as: UTF8.self)
        }.joined(separator: ".")
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        byte == UInt8(ascii: "\\") || byte == UInt8(ascii: ".") ? [UInt8(ascii: "\\"), byte] : [byte]
    }

    /// The bytes on the wire, without compression; nil for a name that cannot be sent.
    var wire: [UInt8]? {
        guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
        var bytes: [UInt8] = []
        for label in labels { bytes += [UInt8(label.count)] + label }
        bytes.append(0)
        return bytes.count <= 255 ? bytes : nil
    }
}
