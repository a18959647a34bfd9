import CompanionWire
import Desktop
import Terminal

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
