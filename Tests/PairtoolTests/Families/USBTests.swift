import FoundationEssentials
import Testing

@testable import Desktop
@testable import pairtool

@Suite struct USBTests {
    /// Makes a tree as sysfs has it: directories of devices with a file a fact.
    private static func makeTree(_ user: Sandbox, _ devices: [String: [String: String]]) throws -> String {
        let root = user.directory + "/sys"
        for (name, facts) in devices {
            let directory = "\(root)/bus/usb/devices/\(name)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            for (fact, text) in facts { try Data((text + "\n").utf8).write(to: URL(filePath: "\(directory)/\(fact)")) }
        }
        return root
    }

    private static let devices = [
        "1-2": ["idVendor": "05ac", "idProduct": "12A8", "product": "iPhone\u{1B}[2J", "serial": "SECRETSERIAL"],
        "1-2:1.0": ["idVendor": "05ac"], "usb1": ["idVendor": "05ac"], "2-1": ["idVendor": "046d", "product": "Mouse"],
        "1-3": ["idVendor": "05AC"], "1-4": [:],
    ]

    @Test("Apple devices are found by their vendor, without the machine's hubs and the interfaces of devices")
    func find() async throws {
        try await Sandbox.with { user in
            let root = try Self.makeTree(user, Self.devices)
            #expect(
                USBDevice.appleDevices(root: root) == [
                    USBDevice(product: "iPhone\u{1B}[2J", vendorId: "05ac", productId: "12a8", port: "1-2"),
                    USBDevice(product: nil, vendorId: "05ac", productId: nil, port: "1-3"),
                ]
            )
            #expect(USBDevice.appleDevices(root: user.directory + "/nothing").isEmpty)
        }
    }

    @Test("They are told of while the look goes on")
    func early() async throws {
        try await Sandbox.with { user in
            let environment = ["PAIRTOOL_SYSFS": try Self.makeTree(user, Self.devices)]
            // It waits for a host: nothing but the interrupt ends it in time.
            let look = ["--interface", "lo", "--engine", "embedded", "--type", "_nobody._tcp", "--first"]
            let followed = try await user.follow(
                ["discover", "--timeout", "100s"] + look,
                environment: environment
            ) { discovery in
                try await discovery.messages.has("USB bus")
                try discovery.interrupt()
            }
            #expect(followed.result.status == 130, "\(followed.result)")
        }
    }

    @Test("Discovery tells of them on standard error, in text and in JSON, and not with -q; no serial number is shown")
    func discover() async throws {
        try await Sandbox.with { user in
            let environment = ["PAIRTOOL_SYSFS": try Self.makeTree(user, Self.devices)]
            let look = ["discover", "--interface", "lo", "--engine", "embedded", "--type", "_nobody._tcp"]
            let text = try await user.spawn(look, environment: environment)
            #expect(text.out.isEmpty)
            #expect(
                text.err.contains("An Apple device is on this machine's USB bus: “iPhone␛[2J” (05ac:12a8, port 1-2)."),
                "\(text)"
            )
            #expect(!text.err.contains("SECRETSERIAL") && !text.err.contains("\u{1B}"))
            let json = try await user.spawn(look + ["--json"], environment: environment)
            let line = try #require(json.err.split(separator: "\n").first)
            let report = try JSONDecoder().decode([String: ShownJSON].self, from: Data(line.utf8))
            #expect(report["info"]?["code"] == .text("discovery.usb"))
            #expect(report["info"]?["device"]?["productId"] == .text("12a8"))
            let quiet = try await user.spawn(look + ["-q"], environment: environment)
            #expect(!quiet.err.contains("USB"))
        }
    }
}
