import CompanionWire
import Testing

@testable import Discovery

@Suite("Service types")
struct ServiceTypeTests {
    @Test(
        "Types that DNS-SD allows are read as they are",
        arguments: [
            "_copilotforge-companion._tcp", "_cf-companion._tcp", "_x._udp", "_A1._tcp",
            "_" + String(repeating: "a", count: 62) + "._tcp",
        ]
    )
    func valid(text: String) throws {
        #expect(try #require(ServiceType(text)).rawValue == text)
    }

    @Test(
        "Text that is no type is refused",
        arguments: [
            "", "_", "._tcp", "_._tcp", "x._tcp", "_x", "_x._sctp", "_x._TCP", "_x._tcp.", "_x._tcp.local", "_-x._tcp",
            "_x-._tcp", "_1._tcp", "_a b._tcp", "_ä._tcp", "_x_y._tcp", "_x._tcp\u{0}", "_x\u{1B}[31m._tcp",
            "_" + String(repeating: "a", count: 63) + "._tcp",
        ]
    )
    func invalid(text: String) {
        #expect(ServiceType(text) == nil)
    }

    @Test("Each known type belongs to its family, another to none")
    func families() throws {
        #expect(ServiceType.all.map(\.family) == [.copilotforge, .copilotforge, .lumi, .aicli, .aicli])
        // AICLI servers of July 2025.
        #expect(try #require(ServiceType("_claudecode._tcp")).family == .aicli)
        #expect(try #require(ServiceType("_http._tcp")).family == nil)
    }

    @Test("The known types are valid and come first in order")
    func order() throws {
        #expect(ServiceType.all.allSatisfy { ServiceType($0.rawValue) == $0 })
        let other = try #require(ServiceType("_aaa._tcp"))
        #expect(([other] + ServiceType.all.reversed()).sorted() == ServiceType.all + [other])
    }
}
