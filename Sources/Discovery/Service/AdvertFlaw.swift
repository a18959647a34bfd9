/// What is wrong with an advert, as far as the advert alone shows it. The raw values are stable.
package enum AdvertFlaw: String, Sendable, Hashable, CaseIterable {
    /// The SRV record says port 0: there is nothing to connect to (RFC 6763, section 6, calls that a placeholder).
    case portZero = "port-0"
    /// The SRV record, TXT record or address could not be had.
    case noAddress = "no-address"
    /// The SRV record's target does not resolve: the address is the one that the answer came from.
    case senderAddress = "address-from-sender"
    /// A name or value is not UTF-8; it is repaired with U+FFFD.
    case invalidUTF8 = "invalid-utf8"
    /// The TXT record has a key more than once; the first one counts (RFC 6763, section 6.4).
    case repeatedKeys = "repeated-keys"
    /// The TXT record has strings without a key, or with one that is not printable ASCII; they are ignored.
    case brokenKeys = "broken-keys"
}
