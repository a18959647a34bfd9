/// Test vectors of draft-irtf-cfrg-cpace for CPACE-RISTR255-SHA512, published with the draft.
enum CPaceVectors {
    /// The password-related string.
    static let prs = hexBytes(
        "50617373776F7264"
    )
    /// The channel identifier.
    static let ci = hexBytes(
        "0B415F696E69746961746F720B425F726573706F6E646572"
    )
    /// The session id.
    static let sid = hexBytes(
        "7E4B4791D6A8EF019B936C79FB7F2C57"
    )
    /// The generator that follows from these.
    static let generator = hexBytes(
        "222B6B195FE84B1652BADB6F6A3AE3D24341E7306967F0B8115B40D5698C7E56"
    )
    /// The initiator's scalar.
    static let scalarA = hexBytes(
        "DA3D23700A9E5699258AEF94DC060DFDA5EBB61F02A5EA77FAD53F4FF0976D08"
    )
    /// The initiator's associated data.
    static let dataA = hexBytes(
        "414461"
    )
    /// The initiator's share.
    static let shareA = hexBytes(
        "D6BAC480F2C386C394EFC7C47ADB9925DCD2630B64F240C50F8D0EEC482B9157"
    )
    /// The responder's scalar.
    static let scalarB = hexBytes(
        "D2316B454718C35362D83D69DF6320F38578ED5984651435E2949762D900B80D"
    )
    /// The responder's associated data.
    static let dataB = hexBytes(
        "414462"
    )
    /// The responder's share.
    static let shareB = hexBytes(
        "3EA7E0B19560D7C0B0F5734F63B955286DFA8232B5EBE63324E2D9E7433F7258"
    )
    /// The point K.
    static let product = hexBytes(
        "80B69A8A76457AB6A4D7F887A4BF6B55A2F80AC19C333F917A05FC9887C8B40F"
    )
    /// The key ISK in the initiator-responder setting.
    static let key = hexBytes(
        "B69EFFBF61B51D56401C0F65601ABE428DE8206FEAAF0E32198896DCAE7B35CD"
            + "2B38950A39DFD5D4A79164614C2984F7DAA460B588C1E80C3FA2068AF7900447"
    )
    /// The session id that follows from the transcript.
    static let sessionOutput = hexBytes(
        "BB1C449B35F0EA79A65C209F329A693D475E0CE2387BED9FE4B78F60B2A27C21"
            + "9813FB2CFE175EF40D2222D9261E66DA7D78F7C55A303B1B8611DCDFAB880C47"
    )
    /// The key ISK in the symmetric setting, where the transcript has an order of its own.
    static let symmetricKey = hexBytes(
        "544199D71F62F8D9A1FEE55727E24FE4A45844593C2B6013C4FA3969D0E5DEBB"
            + "2244675C0B43397CBB68D342B01FC0F98FC961469A25134DE9F0F813C1A57476"
    )
    /// The session id that follows from the transcript of the symmetric setting.
    static let symmetricSessionOutput = hexBytes(
        "10D5941D4933497FE31B9188D690B84465E2A2D158332A7267284A071A8D0876"
            + "FC5C8C329DC735D59A9F8EF6623EE23924704A2F929DD631CA981227EE82FFF2"
    )
    /// A scalar for the point below.
    static let validScalar = hexBytes(
        "7CD0E075FA7955BA52C02759A6C90DBBFC10E6D40AEA8D283E407D88CF538A05"
    )
    /// A point that decodes.
    static let validPoint = hexBytes(
        "2C3C6B8C4F3800E7AEF6864025B4ED79BD599117E427C41BD47D93D654B4A51C"
    )
    /// The product of the two.
    static let validProduct = hexBytes(
        "7C13645FE790A468F62C39BEB7388E541D8405D1ADE69D1778C5FE3E7F6B600E"
    )
    /// Bytes that are no point.
    static let undecodable = hexBytes(
        "2B3C6B8C4F3800E7AEF6864025B4ED79BD599117E427C41BD47D93D654B4A51C"
    )
    /// The neutral element.
    static let neutral = hexBytes(
        "0000000000000000000000000000000000000000000000000000000000000000"
    )
}

/// The bytes that hex digits stand for; traps on anything else.
func hexBytes(_ text: String) -> [UInt8] {
    let digits = text.map { UInt8($0.hexDigitValue!) }
    precondition(digits.count.isMultiple(of: 2))
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
