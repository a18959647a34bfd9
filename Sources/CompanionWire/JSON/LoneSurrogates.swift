/// Text of peers that is no Unicode: halves of characters (surrogates) without their partner.
///
/// JavaScript cuts texts by UTF-16 units and writes the half that is left as an escape, `\ud83d`; others encode the
/// halves by themselves (CESU-8, Unicode Technical Report 26). Decoders refuse both.
enum LoneSurrogates {
    private static let all: ClosedRange<UInt16> = 0xD800...0xDFFF
    private static let low: ClosedRange<UInt16> = 0xDC00...0xDFFF
    private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// Replaces the lone surrogate escapes of a JSON text.
    ///
    /// - Parameter replace: Gives the UTF-8 that takes the place of an escape.
    /// - Returns: Nil where there is none (the usual case, found in one pass).
    static func replacingEscapes(in json: [UInt8], with replace: (UInt16) -> [UInt8]) -> [UInt8]? {
        guard json.contains(UInt8(ascii: "\\")) else { return nil }
        var result: [UInt8] = []
        var copied = 0
        var index = 0
        while index < json.count {
            guard json[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard let unit = escapedUnit(json, at: index) else {
                // `\\` and the like: what follows belongs to it.
                index += 2
                continue
            }
            guard all.contains(unit) else {
                index += 6
                continue
            }
            if !low.contains(unit), let next = escapedUnit(json, at: index + 6), low.contains(next) {
                index += 12
                continue
            }
            result.append(contentsOf: json[copied..<index])
            result.append(contentsOf: replace(unit))
            index += 6
            copied = index
        }
        guard copied > 0 else { return nil }
        return result + json[copied...]
    }

    /// Replaces the lone surrogate escapes of a JSON text by U+FFFD.
    static func replacingEscapes(in json: [UInt8]) -> [UInt8]? {
        replacingEscapes(in: json) { _ in replacement }
    }

    private static func escapedUnit(_ json: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= json.count, json[index] == UInt8(ascii: "\\"), json[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt16 = 0
        for byte in json[(index + 2)..<(index + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Replaces bytes that are not UTF-8 by U+FFFD, and puts halves of characters together that were encoded one by
    /// one.
    ///
    /// - Returns: Nil where all is well.
    static func replacingInvalid(in bytes: [UInt8]) -> [UInt8]? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let unit = encodedUnit(bytes, at: index) else {
                result.append(bytes[index])
                index += 1
                continue
            }
            if !low.contains(unit), let next = encodedUnit(bytes, at: index + 3), low.contains(next) {
                result += String(decoding: [unit, next], as: UTF16.self).utf8
                index += 6
            } else {
                result += replacement
                index += 3
            }
        }
        return Array(String(decoding: result, as: UTF8.self).utf8)
    }

    /// The surrogate whose three bytes begin there.
    private static func encodedUnit(_ bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 3 <= bytes.count, bytes[index] == 0xED, (0xA0...0xBF).contains(bytes[index + 1]),
            (0x80...0xBF).contains(bytes[index + 2])
        else { return nil }
        return 0xD000 | UInt16(bytes[index + 1] & 0x3F) << 6 | UInt16(bytes[index + 2] & 0x3F)
    }
}
