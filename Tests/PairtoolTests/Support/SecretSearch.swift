import CompanionWire
import Foundation
import Glibc

@testable import pairtool

/// Looks for secrets in whatever a job leaves behind: bytes as they are, in hex, and in both alphabets of base64.
struct SecretSearch: Sendable {
    /// What is looked for, and where it may be.
    struct Secret: Sendable {
        var name: String
        /// The ends of the paths of the files that may hold it.
        var homes: [String] = []
        fileprivate var forms: [Data]
    }

    /// Where a secret was found that may not be there.
    struct Leak: Hashable, Sendable, CustomStringConvertible {
        var name: String
        var place: String

        var description: String { "\(name) in \(place)" }
    }

    private(set) var secrets: [Secret] = []
    /// Six digits may be part of a random number or text by chance: a code counts where it stands alone, or where there
    /// are two.
    private var codes: [Data] = []

    mutating func add(code: String) {
        codes.append(Data(code.utf8))
    }

    /// A secret of random bytes.
    mutating func add(_ name: String, bytes: [UInt8], homes: [String] = []) {
        var forms = [Data(bytes), Data(Self.hex(bytes).utf8), Data(Self.hex(bytes).uppercased().utf8)]
        for shift in 0..<3 {
            let text = Self.base64(bytes, shift: shift)
            forms.append(Data(text.utf8))
            forms.append(Data(text.replacing("+", with: "-").replacing("/", with: "_").utf8))
        }
        secrets.append(Secret(name: name, homes: homes, forms: forms))
    }

    /// A secret that is text already: base64url of random bytes.
    mutating func add(_ name: String, text: String, homes: [String] = []) {
        add(name, bytes: Base64URL.decode(text) ?? Array(text.utf8), homes: homes)
        secrets[secrets.count - 1].forms.append(Data(text.utf8))
    }

    /// The leaks in something that was said, or in a file.
    func leaks(in content: Data, of place: String) -> [Leak] {
        var found: [Leak] = []
        // Base64 may be broken into lines.
        let data = content + content.filter { $0 != UInt8(ascii: "\n") }
        for secret in secrets where !secret.homes.contains(where: place.hasSuffix) {
            if secret.forms.contains(where: { data.range(of: $0) != nil }) {
                found.append(Leak(name: secret.name, place: place))
            }
        }
        let isThere = codes.filter { data.range(of: $0) != nil }.count > 1
        if isThere || codes.contains(where: { Self.standsAlone($0, in: content) || Self.isShown($0, in: content) }) {
            found.append(Leak(name: "codes", place: place))
        }
        return found
    }

    /// Whether a code is there as people are shown it: in two groups.
    private static func isShown(_ code: Data, in data: Data) -> Bool {
        data.range(of: code.prefix(3) + Data(" ".utf8) + code.suffix(3)) != nil
    }

    /// Whether a code is somewhere neither within a longer number nor within hex or base64.
    private static func standsAlone(_ code: Data, in data: Data) -> Bool {
        func isFree(_ byte: UInt8?) -> Bool {
            guard let byte else { return true }
            return switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                false
            default: true
            }
        }
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: code, in: rest) {
            let before = found.lowerBound > data.startIndex ? data[found.lowerBound - 1] : nil
            let after = found.upperBound < data.endIndex ? data[found.upperBound] : nil
            if isFree(before), isFree(after) { return true }
            rest = (found.lowerBound + 1)..<data.endIndex
        }
        return false
    }

    /// The leaks in all files below a directory.
    func leaks(below directory: String) throws -> [Leak] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).flatMap { name -> [Leak] in
            let path = directory + "/" + name
            let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            // A file that is gone by now is none that is left behind.
            guard type == .typeRegular, let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
            return leaks(in: data, of: path)
        }
    }

    /// Where a secret is, whether it may be there or not.
    func places(of name: String, below directory: String) throws -> [String] {
        var all = self
        all.secrets = secrets.filter { $0.name == name }.map { Secret(name: $0.name, forms: $0.forms) }
        return try all.leaks(below: directory).map(\.place)
    }

    /// Base64 of bytes that begin `shift` bytes into a group of three, without the digits that others share.
    private static func base64(_ bytes: [UInt8], shift: Int) -> String {
        let text = Array(Base64.encode([UInt8](repeating: 0, count: shift) + bytes))
        let first = (shift * 8 + 5) / 6
        let end = (shift + bytes.count) * 8 / 6
        return String(text[first..<end])
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

/// What `/proc` shows of processes.
enum ProcessTable {
    /// Arguments and environment of all processes that belong to somebody with this home, by their number.
    static func processes(of home: String) throws -> [Int32: Data] {
        var found: [Int32: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = Int32(name) else { continue }
            let parts = ["cmdline", "environ"].map { read("/proc/\(name)/\($0)") }
            guard parts[1].range(of: Data("HOME=\(home)\0".utf8)) != nil else { continue }
            found[pid] = parts[0] + parts[1]
        }
        return found
    }

    /// A file of `/proc`, which has no size.
    private static func read(_ path: String) -> Data {
        guard let file = fopen(path, "r") else { return Data() }
        defer { fclose(file) }
        var (data, buffer) = (Data(), [UInt8](repeating: 0, count: 64 << 10))
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return data }
            data += buffer[..<count]
        }
    }
}
