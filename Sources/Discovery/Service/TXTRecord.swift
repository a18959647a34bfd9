/// The key/value pairs of a DNS-SD TXT record (RFC 6763, section 6).
package struct TXTRecord: Hashable, Sendable {
    /// The first value of each key, keys in lower case. A key without `=` has the value "".
    package private(set) var values: [String: String] = [:]
    /// The flaws that were found in the strings.
    package private(set) var flaws: Set<AdvertFlaw> = []

    /// Reads the strings of a TXT record, in their order.
    ///
    /// Strings without a key, and those whose key holds anything but printable ASCII, are left out; of a key that is
    /// repeated, the first value counts (section 6.4). Values are bytes: what is not UTF-8 is repaired.
    package init(strings: some Sequence<[UInt8]>) {
        for string in strings {
            let pair = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let rawKey = pair.first, !rawKey.isEmpty, rawKey.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                // A record without strings is one empty string (section 6.1).
                if !string.isEmpty { flaws.insert(.brokenKeys) }
                continue
            }
            let key = String(decoding: rawKey, as: UTF8.self).lowercased()
            guard values[key] == nil else {
                flaws.insert(.repeatedKeys)
                continue
            }
            let value = pair.count == 2 ? pair[1] : []
            let text = String(decoding: value, as: UTF8.self)
            // Repairing changes the bytes.
            if !text.utf8.elementsEqual(value) { flaws.insert(.invalidUTF8) }
            values[key] = text
        }
    }

    /// The host's own id: the value of `id` if it is 16 lower-case hex digits, else nil.
    package var advertisedID: String? {
        guard let id = values["id"], id.utf8.count == 16,
            id.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        return id
    }
}
