/// The records of an mDNS response that matter for resolving (RFC 1035, section 4; RFC 6762, section 18).
struct DNSResponse: Sendable {
    struct Service: Sendable, Hashable {
        var port: Int
        var target: DNSName
    }

    /// All by the folded name of their owner. Of several records the first one counts.
    private(set) var services: [DNSName: Service] = [:]
    private(set) var texts: [DNSName: [[UInt8]]] = [:]
    /// Four or sixteen bytes each.
    private(set) var addresses: [DNSName: [[UInt8]]] = [:]

    /// Nothing yet.
    init() {}

    /// Takes in a later response, whose word counts.
    ///
    /// - Parameter limit: How many of a kind are kept.
    mutating func learn(_ later: DNSResponse, limit: Int) {
        if services.count < limit { services.merge(later.services) { $1 } }
        if texts.count < limit { texts.merge(later.texts) { $1 } }
        if addresses.count < limit { addresses.merge(later.addresses) { $1 } }
        for name in later.left {
            services[name] = nil
            texts[name] = nil
        }
    }

    /// The owners of records that are on their way out.
    private var left: [DNSName] = []

    /// Reads a packet. Returns nil for a query, and for a cut or invalid packet.
    init?(_ packet: [UInt8]) {
        var reader = DNSReader(packet)
        guard reader.number() != nil, let flags = reader.number(), flags & 0x8000 != 0,
            let questions = reader.number(), let answers = reader.number(), let authorities = reader.number(),
            let additionals = reader.number()
        else { return nil }
        for _ in 0..<questions {
            guard reader.name() != nil, reader.skip(4) else { return nil }
        }
        for _ in 0..<(answers + authorities + additionals) {
            guard take(&reader) else { return nil }
        }
    }

    private mutating func take(_ reader: inout DNSReader) -> Bool {
        guard let owner = reader.name()?.folded, let kind = reader.number(), reader.number() != nil,
            let ttlHigh = reader.number(), let ttlLow = reader.number(), let length = reader.number(),
            let data = reader.inner(length)
        else { return false }
        // A record that is on its way out (RFC 6762, section 10.1).
        guard ttlHigh | ttlLow != 0 else {
            if kind == 33 || kind == 16 { left.append(owner) }
            return true
        }
        var inner = data
        switch kind {
        case 33:
            guard inner.skip(4), let port = inner.number(), let target = inner.name() else { return false }
            if services[owner] == nil { services[owner] = Service(port: port, target: target) }
        case 16:
            if texts[owner] == nil { texts[owner] = inner.strings() }
        case 1, 28:
            let bytes = inner.rest
            guard bytes.count == (kind == 1 ? 4 : 16) else { return false }
            addresses[owner, default: []].append(bytes)
        default:
            break
        }
        return true
    }
}

/// Reads a packet from its beginning, never past its end.
struct DNSReader {
    private let packet: [UInt8]
    private var at = 0
    private var end: Int

    init(_ packet: [UInt8]) {
        self.packet = packet
        end = packet.count
    }

    /// The bytes that are not read yet.
    var rest: [UInt8] { Array(packet[at..<end]) }

    mutating func skip(_ count: Int) -> Bool {
        guard at + count <= end else { return false }
        at += count
        return true
    }

    mutating func number() -> Int? {
        guard at + 2 <= end else { return nil }
        defer { at += 2 }
        return Int(packet[at]) << 8 | Int(packet[at + 1])
    }

    /// A reader of the next bytes, which are skipped here.
    mutating func inner(_ count: Int) -> DNSReader? {
        guard at + count <= end else { return nil }
        var inner = self
        inner.end = at + count
        at += count
        return inner
    }

    /// Length-prefixed strings up to the end; one that is cut off ends the list.
    mutating func strings() -> [[UInt8]] {
        var strings: [[UInt8]] = []
        while at < end {
            let length = Int(packet[at])
            guard at + 1 + length <= end else { break }
            strings.append(Array(packet[(at + 1)..<(at + 1 + length)]))
            at += 1 + length
        }
        return strings
    }

    /// A name, which may point to earlier parts of the packet, forwards never: so there are no loops.
    mutating func name() -> DNSName? {
        var labels: [[UInt8]] = []
        var length = 1
        var position = at
        var limit = end
        var next: Int?
        while position < limit {
            let first = Int(packet[position])
            if first & 0xc0 == 0xc0 {
                guard position + 1 < limit else { return nil }
                let target = (first & 0x3f) << 8 | Int(packet[position + 1])
                guard target < position else { return nil }
                next = next ?? position + 2
                limit = position
                position = target
                continue
            }
            guard first < 64 else { return nil }
            guard first > 0 else {
                at = next ?? position + 1
                return DNSName(labels)
            }
            length += first + 1
            guard position + 1 + first <= limit, length <= 255 else { return nil }
            labels.append(Array(packet[(position + 1)..<(position + 1 + first)]))
            position += 1 + first
        }
        return nil
    }
}
