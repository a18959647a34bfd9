import CompanionWire
import FoundationEssentials

/// An Apple device on this machine's USB bus. It is only a hint that a phone or a Mac is connected; nothing is sent to
/// it.
struct USBDevice: Encodable, Sendable, Hashable {
    /// Apple's vendor id.
    private static let apple = "05ac"
    /// Longer content is cut: the files of a real device hold a few words each.
    private static let lineLimit = 256

    /// The name that the device reports.
    var product: String?
    var vendorId: String
    var productId: String?
    /// The USB port, such as `1-2`.
    var port: String

    /// The connected Apple devices, by port.
    ///
    /// - Parameter context: Its environment may name another sysfs, for tests.
    static func appleDevices(context: CommandContext) -> [USBDevice] {
        appleDevices(root: context.environment["PAIRTOOL_SYSFS"] ?? "/sys")
    }

    /// The Apple devices in a given sysfs.
    static func appleDevices(root: String) -> [USBDevice] {
        let directory = root + "/bus/usb/devices"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { name in
            // Entries with a colon are interfaces of a device; entries such as usb1 are the machine's own hubs.
            guard !name.has(":"), !name.begins(with: "usb") else { return nil }
            let device = directory + "/" + name
            guard line(device + "/idVendor")?.lowercased() == apple else { return nil }
            return USBDevice(
                product: line(device + "/product"),
                vendorId: apple,
                productId: line(device + "/idProduct")?.lowercased(),
                port: name
            )
        }
    }

    private static func line(_ path: String) -> String? {
        guard let file = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: file.prefix(lineLimit), as: UTF8.self).trimmingWhitespace()
        return text.isEmpty ? nil : text
    }
}

/// The report of USB devices by `discover --json`, on standard error.
private struct USBReport: Encodable {
    struct Body: Encodable {
        var code = "discovery.usb"
        var message: String
        var device: USBDevice
    }

    var info: Body
}

extension Output {
    /// Reports Apple devices on the USB bus. They are not hosts, so the report goes to standard error.
    func tell(of devices: [USBDevice]) {
        for device in devices {
            let name = device.product.map { "“\($0)”" } ?? "without a name"
            let message = TerminalText.line(
                "An Apple device is on this machine's USB bus: \(name) (\(device.vendorId):\(device.productId ?? "?"), port \(device.port))."
            )
            switch format {
            case .text: say(message)
            case .json: info(USBReport(info: .init(message: message, device: device)))
            case .quiet: break
            }
        }
    }
}
