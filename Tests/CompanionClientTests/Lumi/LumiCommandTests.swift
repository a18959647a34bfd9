import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionClient

extension LumiAnswer {
    init(json: String) throws {
        self = try JSONDecoder().decode(LumiAnswer.self, from: Data(json.utf8))
    }
}

@Suite struct LumiCommandTests {
    @Test func `every command goes out as the protocol has it`() async throws {
        let requests: [(LumiRequest, String, [String: String])] = [
            (.setVolume(try LumiLevel("25%")), "set_volume", ["level": "25"]),
            (.setMute(true), "set_mute", ["muted": "true"]),
            (.setBrightness(try LumiLevel("5")), "set_brightness", ["level": "0.05"]),
            (.media(.previous), "media_previous", [:]),
            (.mediaInfo, "media_get_info", [:]),
            (.open(try LumiAppName("Visual Studio Code")), "open_application", ["name": "Visual Studio Code"]),
            (.quit(try LumiAppName("Xcode")), "quit_application", ["name": "Xcode"]),
            (
                .open(try LumiURL("https://example.org/a?b=c&d=%22")), "launch_url",
                ["url": "https://example.org/a?b=c&d=%22"]
            ),
            (
                .notify(title: try .init("Build"), message: try .init("It’s done")), "send_notification",
                ["title": "Build", "message": "It’s done"]
            ),
            (.type(try .init("a\n\"b\"")), "type_text", ["text": "a\n\"b\""]),
            (.press(try .init("cmd+shift+T")), "press_key", ["key": "t", "modifiers": "command,shift"]),
            (.press(try .init("escape")), "press_key", ["key": "escape"]),
            (.moveMouse(to: try LumiPoint(x: -10, y: 20)), "move_mouse", ["x": "-10", "y": "20"]),
            (.clickMouse(at: nil), "click_mouse", ["button": "left"]),
            (
                .clickMouse(at: try LumiPoint(x: 1, y: 2), with: .right), "click_mouse",
                ["button": "right", "x": "1", "y": "2"]
            ),
            (.scrollMouse(by: try LumiPoint(x: 0, y: -30)), "scroll_mouse", ["delta_x": "0", "delta_y": "-30"]),
            (.shell(try .init("uptime")), "run_shell_command", ["command": "uptime"]),
            (.appleScript(try .init("beep")), "run_applescript", ["script": "beep"]),
        ]
        try await withLumi { host, client async throws in
            for (request, name, parameters) in requests {
                try await client.perform(request)
                #expect(host.commands.last?.name == name)
                #expect(host.commands.last?.parameters == parameters)
            }
        }
    }

    @Test func `what a Mac says of itself is read`() async throws {
        try await withLumi { host, client async throws in
            #expect(try await client.volume() == 50)
            #expect(try await client.isMuted() == false)
            #expect(try await client.brightness() == 75)
            #expect(try await client.runningApps() == ["Finder", "Safari", "Xcode", "Music"])
            let info = try await client.info()
            #expect(info.map(\.name) == ["Hostname", "OS", "CPUs", "RAM", "Width", "Height"])
            #expect(info.first?.value == "Adas-MacBook-Pro.local")
            #expect(try await client.ping(deviceName: "desk") > .zero)
            #expect(host.connections == 1)
        }
    }

    @Test(arguments: ["missing value", "", "101", "-1", "fifty"])
    func `what is no volume is none`(_ text: String) async throws {
        let json = #"{"id":"ID","success":true,"result":"\#(text)"}"#
        try await withLumi(.fault(.payload(json))) { _, client async throws in
            #expect(try await client.volume() == nil)
        }
    }

    @Test func `a picture is what its first bytes say`() async throws {
        try await withLumi { host, client async throws in
            let picture = try await client.screenshot()
            #expect(picture.type == .png, "Macs say JPEG and send PNG")
            #expect(picture.bytes == FakeLumiScript.screen)
            host.change { $0.screenshot = [0xFF, 0xD8, 0xFF, 0xE0, 0, 1] }
            #expect(try await client.screenshot().type.fileExtension == "jpg")
            for bytes in [[], Array("<html>".utf8), [0x89, 0x50, 0x4E]] as [[UInt8]] {
                host.change { $0.screenshot = bytes }
                #expect(try await clientError { try await client.screenshot() }.code == .badAnswer)
            }
        }
    }

    @Test func `the middle of times is found in odd and even numbers of them`() throws {
        let odd = try #require(LumiRoundTrips([.milliseconds(9), .milliseconds(1), .milliseconds(2)]))
        #expect((odd.shortest, odd.median, odd.longest) == (.milliseconds(1), .milliseconds(2), .milliseconds(9)))
        #expect(LumiRoundTrips([.milliseconds(4), .milliseconds(1)])?.median == .microseconds(2500))
        #expect(LumiRoundTrips([]) == nil)
    }
}
