extension StringProtocol {
    /// Whether the text is a name of DNS: labels of letters, digits, hyphens and underscores, without a hyphen at
    /// either end. Other characters have to be punycode. See ``fitsDNS``.
    package var isDNSName: Bool {
        fitsDNS
            && utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
            && parts(".").allSatisfy { !$0.begins(with: "-") && !$0.ends(with: "-") }
    }

    /// Whether the text is as long as a name of DNS may be (RFC 1035, section 2.3.4): labels of 1…63 bytes, 253 bytes
    /// in all. A dot at the end does not count.
    package var fitsDNS: Bool {
        let name = dropping(suffix: ".") ?? self[...]
        return name.utf8.count <= 253
            && name.parts(".", omittingEmpty: false).allSatisfy { (1...63).contains($0.utf8.count) }
    }
}
