@preconcurrency import Glibc

/// The variables that this process was started with.
enum EnvironmentVariables {
    /// By their names. Of a name that comes twice, the first counts, as it does for the C library.
    static var ofProcess: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            if let sign = strchr(text, CInt(UInt8(ascii: "="))) {
                let name = UnsafeBufferPointer(start: text, count: sign - text)
                let key = name.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
                if variables[key] == nil { variables[key] = String(cString: sign + 1) }
            }
            entry += 1
        }
        return variables
    }
}
