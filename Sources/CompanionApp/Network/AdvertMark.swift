import Discovery

/// A reason to be suspicious of an advertisement. The raw values are stable words of the JSON output; the most serious
/// comes first.
package enum AdvertMark: String, Encodable, Sendable, CaseIterable {
    case otherKey = "other-key"
    case sameID = "same-id"
    case sameName = "same-name"
    case otherAddress = "other-address"
    case publicAddress = "public-address"
    case portZero = "port-0"
    case noAddress = "no-address"
    case senderAddress = "address-from-sender"
    case unsafeText = "unsafe-text"
    case invalidUTF8 = "invalid-utf8"
    case repeatedKeys = "repeated-keys"
    case brokenKeys = "broken-keys"

    init(_ flaw: AdvertFlaw) {
        self =
            switch flaw {
            case .portZero: .portZero
            case .noAddress: .noAddress
            case .senderAddress: .senderAddress
            case .invalidUTF8: .invalidUTF8
            case .repeatedKeys: .repeatedKeys
            case .brokenKeys: .brokenKeys
            }
    }

    /// The explanation for users.
    package var text: String {
        switch self {
        case .otherKey: "has the id of a host that you have paired with, but another key: it is another host"
        case .sameID: "several machines claim to be this host: give the address of the right one"
        case .sameName: "looks like the name of another host: compare the ids"
        case .otherAddress:
            "has the id of a host that you have paired with, at another address: only its key can prove it"
        case .publicAddress: "has an address that is not on your network: it is not contacted"
        case .portZero: "advertises port 0: there is nothing to connect to"
        case .noAddress: "its name or address does not resolve"
        case .senderAddress: "its host name does not resolve: the address is the sender's"
        case .unsafeText: "has control or invisible characters, which are shown as symbols"
        case .invalidUTF8: "has text that is not UTF-8, which is shown repaired"
        case .repeatedKeys: "repeats TXT keys: the first one is used"
        case .brokenKeys: "has TXT entries without a valid key, which are ignored"
        }
    }
}

extension AdvertMark: Comparable {
    package static func < (left: AdvertMark, right: AdvertMark) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
