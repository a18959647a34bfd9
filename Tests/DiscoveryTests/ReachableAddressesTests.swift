import CompanionWire
import Testing

@testable import Discovery

@Suite("The addresses that a QR code names") struct ReachableAddressesTests {
    private static let active: UInt32 = 0x1043

    private static func interface(_ name: String, _ addresses: [String], flags: UInt32 = active) -> NetworkInterface {
        NetworkInterface(name: name, index: 2, flags: flags, addresses: addresses.compactMap { IPAddress($0) })
    }

    private static let machine = [
        interface("lo", ["127.0.0.1", "::1"], flags: 0x49),
        interface("docker0", ["172.17.0.1"]), interface("br-1a2b3c", ["172.18.0.1"]),
        interface("tailscale0", ["100.64.7.7"], flags: 0x1051),
        interface("br0", ["10.9.0.1"]),
        interface("eth0", ["fe80::2%eth0", "fd00::2", "169.254.3.3", "10.88.0.2"]),
        interface("wlan0", ["192.168.1.5", "203.0.113.9"]),
        interface("eth9", ["192.168.9.9"], flags: 0x1003),
    ]

    private func ordered(
        only: String? = nil,
        defaultRoutes: [String] = [],
        bridges: Set<String> = ["docker0", "br-1a2b3c", "br0"]
    ) -> [String] {
        ReachableAddresses.ordered(Self.machine, only: only, defaultRoutes: defaultRoutes, bridges: bridges)
            .map(\.description)
    }

    @Test("The default route's interface comes first, then networks, tunnels, and bridges of containers")
    func order() {
        #expect(
            ordered(defaultRoutes: ["wlan0"]) == [
                "192.168.1.5", "10.88.0.2", "fd00::2", "169.254.3.3", "100.64.7.7", "172.17.0.1", "172.18.0.1",
                "10.9.0.1",
            ]
        )
        #expect(ordered().first == "10.88.0.2", "without a default route")
        #expect(ordered(defaultRoutes: ["eth0", "wlan0"]).first == "10.88.0.2", "the lower metric")
    }

    @Test("A bridge with the default route is the way to the network; a tunnel with it is not")
    func bridgeAndTunnel() {
        #expect(ordered(defaultRoutes: ["br0"]).first == "10.9.0.1")
        #expect(ordered(defaultRoutes: ["tailscale0", "wlan0"]).first == "192.168.1.5")
    }

    @Test(
        "The interface that the user named is the only one",
        arguments: [
            ("wlan0", ["192.168.1.5"]), ("lo", ["127.0.0.1", "::1"]), ("docker0", ["172.17.0.1"]), ("eth9", []),
            ("none", []),
        ] as [(String, [String])]
    )
    func named(only: String, addresses: [String]) {
        #expect(ordered(only: only, defaultRoutes: ["eth0"]) == addresses)
    }

    @Test("Default routes are those that are up and refuse nothing, the lowest metric first")
    func routes() {
        let v4 = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            eth0\t00000000\t0158580A\t0003\t0\t0\t100\t00000000\t0\t0\t0
            *\t00000000\t00000000\t0200\t0\t0\t0\t00000000\t0\t0\t0
            docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
            tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000080\t0\t0\t0

            """
        #expect(DefaultRoutes.v4(in: v4) == ["eth0", "wlan0"])
        let zeros = String(repeating: "0", count: 32)
        let v6 = """
            fd000000000000000000000000000000 40 \(zeros) 00 \(zeros) 00000100 00000001 00000000 00000001     eth0
            \(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003    wlan0
            \(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo

            """
        #expect(DefaultRoutes.v6(in: v6) == ["wlan0"])
        #expect(DefaultRoutes.v4(in: "") == [] && DefaultRoutes.v6(in: "x") == [])
    }
}
