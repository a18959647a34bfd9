import Glibc
import Testing

@testable import Discovery

@Suite("The embedded engine's library", .timeLimit(.minutes(15)))
struct AvahiCoreTests {
    /// In a process of its own, which is left without a descriptor to open the library with.
    @Test("Why it cannot be loaded is said, and which package it is of")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let error = #expect(throws: DiscoveryError.self) { _ = try AvahiCore.functions() }
            #expect(error?.code == .engineUnavailable)
            #expect(error?.message.contains("libavahi-core7") == true)
            #expect(error?.message.contains("Too many open files") == true, "\(error?.message ?? "")")
        }
    }
}
