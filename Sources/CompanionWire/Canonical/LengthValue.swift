/// Joins parts so that no two lists of parts give the same bytes: each after its length (draft-irtf-cfrg-cpace,
/// `lv_cat`).
package func lvCat(_ parts: [[UInt8]]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(parts.reduce(0) { $0 + $1.count + 2 })
    for part in parts {
        output += leb128(part.count)
        output += part
    }
    return output
}

/// Joins parts so that no two lists of parts give the same bytes: each after its length (draft-irtf-cfrg-cpace,
/// `lv_cat`).
package func lvCat(_ parts: [UInt8]...) -> [UInt8] {
    lvCat(parts)
}

/// A length as unsigned LEB128: seven bits a byte, the least significant first, the top bit set on all but the last.
package func leb128(_ length: Int) -> [UInt8] {
    var rest = UInt(length)
    var output: [UInt8] = []
    repeat {
        let byte = UInt8(rest & 0x7F)
        rest >>= 7
        output.append(rest == 0 ? byte : byte | 0x80)
    } while rest != 0
    return output
}
