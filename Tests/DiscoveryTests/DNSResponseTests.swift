import Testing

@testable import Discovery

@Suite("Reading mDNS responses of anyone")
struct DNSResponseTests {
    private static let header: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0]
    /// `a.local` with an SRV record to `b`, a pointer to the middle of it, port 258; and an A record of `b`.
    private static let packet: [UInt8] =
        header + [1, 0x41, 5, 0x6c, 0x6f, 0x63, 0x61, 0x6c, 0] + [
            0, 33, 0x80, 1, 0, 0, 0, 120, 0, 9, 0, 0, 0, 0, 1, 2, 1, 0x62, 0,
        ]
        + [1, 0x42, 0] + [0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 1]

    @Test("Port, target and address are read, names without case")
    func reads() throws {
        let response = try #require(DNSResponse(Self.packet))
        let name = DNSName([[0x61], Array("local".utf8)])
        #expect(response.services[name] == DNSResponse.Service(port: 258, target: DNSName([[0x62]])))
        #expect(response.addresses[DNSName([[0x62]])] == [[10, 0, 0, 1]])
    }

    @Test("A packet that is cut off anywhere is no response, and does no harm")
    func truncated() {
        for count in 0..<Self.packet.count { #expect(DNSResponse(Array(Self.packet[..<count])) == nil) }
    }

    @Test("Any byte may be anything")
    func mutated() {
        for index in Self.packet.indices {
            for value in [0, 1, 0x3f, 0x40, 0x7f, 0xc0, 0xff] as [UInt8] {
                var packet = Self.packet
                packet[index] = value
                _ = DNSResponse(packet)
            }
        }
    }

    @Test("A pointer to itself or ahead, and a name that goes on for ever, are no names")
    func pointers() {
        #expect(DNSResponse(Self.header + [0xc0, 12] + [UInt8](repeating: 0, count: 40)) == nil)
        #expect(DNSResponse(Self.header + [0xc0, 40] + [UInt8](repeating: 0, count: 40)) == nil)
        let label: [UInt8] = [63] + [UInt8](repeating: 0x61, count: 63)
        let long: [UInt8] = label + label + label + label + label + [0]
        #expect(DNSResponse(Self.header + long + [UInt8](repeating: 0, count: 40)) == nil)
    }

    @Test("A query is no response, and names over 255 bytes cannot be asked for")
    func others() {
        var packet = Self.packet
        packet[2] = 0
        #expect(DNSResponse(packet) == nil)
        #expect(DNSName([[UInt8]](repeating: [UInt8](repeating: 0x61, count: 63), count: 4)).wire == nil)
        #expect(DNSName([[UInt8](repeating: 0x61, count: 64)]).wire == nil)
    }
}

@Suite("The queue of instances")
struct InstanceQueueTests {
    @Test("Instances come out in order, without those that were taken out, however many these are")
    func order() {
        var queue = InstanceQueue()
        let all = (0..<500).map { ServiceInstance.fixture("Host \($0)") }
        for instance in all + all { queue.append(instance) }
        for (index, instance) in all.enumerated() where index % 7 != 0 {
            let wasThere = queue.remove(instance)
            #expect(wasThere)
        }
        let isThere = queue.remove(all[1])
        #expect(!isThere)
        var rest: [ServiceInstance] = []
        while let next = queue.popFirst() { rest.append(next) }
        #expect(rest == all.enumerated().filter { $0.offset % 7 == 0 }.map(\.element))
        #expect(queue.isEmpty)
    }
}
