import CompanionWire
import FoundationEssentials

/// An Apple device on this machine's USB bus: a hint that a phone or a Mac is at hand, and no more than that. Nothing
/// is sent to it.
struct USBDevice: Encodable, Sendable, Hashable {
    /// The vendor id of Apple.
    private static let apple = "05ac"
    /// No file of a device says more than a few words.
    private static let lineLimit = 256

    /// What the device calls itself; the device's word.
    var product: String?
    var vendorId: String
    var productId: String?
    /// Where it is plugged in, such as `1-2`.
    var port: String

    /// The Apple devices that the system knows, by port.
    ///
    /// - Parameter context: Tests have a sysfs of their own.
    static func appleDevices(context: CommandContext) -> [USBDevice] {
        appleDevices(root: context.environment["PAIRTOOL_SYSFS"] ?? "/sys")
    }

    /// The same, where sysfs is elsewhere.
    static func appleDevices(root: String) -> [USBDevice] {
        let directory = root + "/bus/usb/devices"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { name in
            // Entries with a colon are interfaces of a device, those like usb1 the machine's own hubs.
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
        let text = String(decoding: file.prefix(lineLimit), as: UTF8.self).trimmingBlanks()
        return text.isEmpty ? nil : text
    }
}

/// How `discover` tells of such devices with `--json`, on standard error.
private struct USBReport: Encodable {
    struct Body: Encodable {
        var code = "discovery.usb"
        var message: String
        var device: USBDevice
    }

    var info: Body
}

extension Output {
    /// Tells of Apple devices on the USB bus: to standard error, for they are no hosts.
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
