import CompanionTestSupport
import Testing

@testable import CompanionClient

@Suite struct LumiLimitTests {
    @Test func `the limits are those of the protocol`() {
        let limits = LumiConfiguration.default
        #expect(limits.connect == .seconds(8) && limits.ping == .seconds(5) && limits.usual == .seconds(15))
        #expect(limits.slow == .seconds(30) && limits.sync == .seconds(20))
    }

    /// What each command is given, in seconds.
    private static func commands() throws -> [(LumiRequest, Int)] {
        let point = try LumiPoint(x: 1, y: 2)
        let (level, app) = (try LumiLevel("25"), try LumiAppName("Safari"))
        let quick: [LumiRequest] = [
            .volume, .mute, .brightness, .mediaInfo, .screenInfo, .systemInfo, .runningApps, .setVolume(level),
            .setMute(true), .setBrightness(level), .open(app), .quit(app), .open(try LumiURL("https://example.org")),
            .notify(title: try .init("a"), message: try .init("b")), .type(try .init("a")), .press(try .init("escape")),
            .moveMouse(to: point), .clickMouse(at: point), .scrollMouse(by: point),
        ]
        let slow: [LumiRequest] = [.screenshot, .shell(try .init("ls")), .appleScript(try .init("beep"))]
        return [(.ping(deviceName: "desk"), 5)] + quick.map { ($0, 15) }
            + LumiRequest.MediaAct.allCases.map { (.media($0), 15) } + slow.map { ($0, 30) }
            + LumiSyncFile.allCases.map { (.syncData($0), 20) }
    }

    @Test func `each command has the time that the protocol gives it`() throws {
        for (request, seconds) in try Self.commands() {
            #expect(LumiConfiguration.default.limit(request.pace) == .seconds(seconds), "\(request.command)")
        }
    }

    @Test func `a host that says nothing is given up after the command's own time`() async throws {
        let configuration = LumiConfiguration(
            // Long enough for the pings that are answered before.
            ping: .seconds(4),
            usual: .milliseconds(100),
            slow: .milliseconds(300),
            sync: .milliseconds(200)
        )
        let cases: [(LumiRequest, String)] = [
            (.ping(deviceName: "desk"), "4"), (.volume, "0.1"), (.screenshot, "0.3"),
            (.shell(try .init("ls")), "0.3"),
            (.syncData(.agents), "0.2"),
        ]
        try await withLumi(.init(), configuration) { host, client async throws in
            host.change { $0.faults = [FakeLumiFault(.silence)] }
            for (request, seconds) in cases {
                let error = try await clientError { try await client.perform(request) }
                #expect(error.code == .timedOut, "\(error)")
                #expect(error.message.contains("within \(seconds) seconds"), "\(request.command): \(error.message)")
            }
        }
    }
}
