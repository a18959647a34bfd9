import CompanionWire
import FoundationEssentials

/// An Apple device on this machine's USB bus. It is only a hint that a phone or a Mac is connected; nothing is sent to
/// it.
package struct USBDevice: Encodable, Sendable, Hashable {
    /// Apple's vendor id.
    private static let apple = "05ac"
    /// Longer content is cut: the files of a real device hold a few words each.
    private static let lineLimit = 256

    /// The name that the device reports.
    package var product: String?
    package var vendorId: String
    package var productId: String?
    /// The USB port, such as `1-2`.
    package var port: String

    /// The connected Apple devices, by port.
    ///
    /// - Parameter root: The directory where sysfs is mounted.
    package static func appleDevices(root: String) -> [USBDevice] {
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
