import CompanionWire
import Glibc

/// The name of this machine.
package enum MachineName {
    /// The host name without its domain.
    package static var current: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "Linux workstation" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let label = name.prefix { $0 != "." }
        return label.isEmpty ? "Linux workstation" : String(label)
    }
}
