/// Writes JSON strings as JavaScript does: by UTF-16 units, with lone halves of characters as `\udXXX` escapes.
package enum JSONText {
    /// A string of UTF-16 units, quotes included. Halves that belong together stay a character.
    package static func quoted(_ units: some Collection<UInt16>) -> String {
        var result = "\""
        let units = Array(units)
        var index = 0
        while index < units.count {
            let unit = units[index]
            if isHigh(unit), index + 1 < units.count, isLow(units[index + 1]) {
                result += String(decoding: units[index...(index + 1)], as: UTF16.self)
                index += 2
                continue
            }
            result += isHigh(unit) || isLow(unit) ? escape(unit) : character(unit)
            index += 1
        }
        return result + "\""
    }

    /// A text as a JSON string, quotes included.
    package static func quoted(_ text: String) -> String {
        quoted(text.utf16)
    }

    /// The first of the marks by which ``text(_:)`` keeps lone halves of characters: the end of the last private-use
    /// plane.
    private static let firstMark: UInt32 = 0x10F800

    /// UTF-16 units as a text that can be kept and encoded; lone halves are marks in it until ``escapingMarks(in:)``.
    package static func text(_ units: some Collection<UInt16>) -> String {
        var scalars = String.UnicodeScalarView()
        let units = Array(units)
        var index = 0
        while index < units.count {
            let unit = units[index]
            if isHigh(unit), index + 1 < units.count, isLow(units[index + 1]) {
                scalars += String(decoding: units[index...(index + 1)], as: UTF16.self).unicodeScalars
                index += 2
                continue
            }
            let isLone = isHigh(unit) || isLow(unit)
            let value = isLone ? firstMark + UInt32(unit) - 0xD800 : UInt32(unit)
            scalars += Unicode.Scalar(value).map { [$0] } ?? []
            index += 1
        }
        return String(scalars)
    }

    /// JSON in which the marks of ``text(_:)`` are lone escapes, as JavaScript writes them.
    package static func escapingMarks(in json: String) -> String {
        // Only they begin with this byte. Most answers have none of them, and some have a hundred thousand messages.
        guard json.utf8.contains(0xF4) else { return json }
        return json.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.value >= firstMark {
                result += escape(UInt16(scalar.value - firstMark) + 0xD800)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isHigh(_ unit: UInt16) -> Bool { (0xD800...0xDBFF).contains(unit) }

    private static func isLow(_ unit: UInt16) -> Bool { (0xDC00...0xDFFF).contains(unit) }

    private static func character(_ unit: UInt16) -> String {
        switch unit {
        case 0x22: "\\\""
        case 0x5C: "\\\\"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        case 0x09: "\\t"
        case 0..<0x20: escape(unit)
        default: String(decoding: [unit], as: UTF16.self)
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let hex = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }
}
