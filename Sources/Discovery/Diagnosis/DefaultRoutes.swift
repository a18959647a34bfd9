import CompanionWire

/// The interfaces with a default route of this machine (proc(5), `/proc/net`).
enum DefaultRoutes {
    private struct Route {
        var interface: String
        var metric: UInt32
    }

    /// The preferred interface first: IPv4 before IPv6, then the lower metric.
    static var current: [String] {
        (v4(in: ProcessFile.text(of: "/proc/net/route")) + v6(in: ProcessFile.text(of: "/proc/net/ipv6_route"))).unique
    }

    static func v4(in table: String) -> [String] {
        let routes: [Route] = table.parts("\n").compactMap { line in
            // Iface Destination Gateway Flags RefCnt Use Metric Mask …
            let fields = line.parts("\t")
            guard fields.count > 7, UInt32(fields[1], radix: 16) == 0, UInt32(fields[7], radix: 16) == 0,
                let flags = UInt32(fields[3], radix: 16), isUsable(flags), let metric = UInt32(fields[6])
            else { return nil }
            return Route(interface: String(fields[0]), metric: metric)
        }
        return names(routes)
    }

    static func v6(in table: String) -> [String] {
        let routes: [Route] = table.parts("\n").compactMap { line in
            // destination length source length nexthop metric refcount use flags interface
            let fields = line.parts(" ")
            guard fields.count > 9, fields[0].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }),
                UInt32(fields[1], radix: 16) == 0, let metric = UInt32(fields[5], radix: 16),
                let flags = UInt32(fields[8], radix: 16), isUsable(flags)
            else { return nil }
            return Route(interface: String(fields[9]), metric: metric)
        }
        return names(routes)
    }

    /// A route that is up and does not refuse (`RTF_UP` and `RTF_REJECT` of linux/route.h).
    private static func isUsable(_ flags: UInt32) -> Bool { flags & 0x1 != 0 && flags & 0x200 == 0 }

    private static func names(_ routes: [Route]) -> [String] {
        routes.sorted { $0.metric < $1.metric }.map(\.interface)
    }
}
