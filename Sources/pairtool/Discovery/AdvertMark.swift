import Discovery

/// What is odd about an advert. The raw values are stable words of the JSON output; the gravest comes first.
enum AdvertMark: String, Encodable, Sendable, CaseIterable {
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

    /// For people.
    var text: String {
        switch self {
        case .otherKey: "has the id of a host that you have paired with, but another key: it is not that host"
        case .sameID: "several machines claim to be this host: name the right one by address"
        case .sameName: "looks like the name of another host: compare the ids"
        case .otherAddress: "has the id of a host that you have paired with, at another address: its key decides"
        case .publicAddress: "has an address that is not on your network: it is not contacted"
        case .portZero: "says that there is nothing to connect to"
        case .noAddress: "its name or address cannot be had"
        case .senderAddress: "its host name does not resolve: the address is where the answer came from"
        case .unsafeText: "has characters that steer terminals or cannot be seen: they are shown as signs"
        case .invalidUTF8: "has text that is not UTF-8: it is shown repaired"
        case .repeatedKeys: "has TXT keys more than once: the first one counts"
        case .brokenKeys: "has TXT entries without a valid key: they are left out"
        }
    }
}

extension AdvertMark: Comparable {
    static func < (left: AdvertMark, right: AdvertMark) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
