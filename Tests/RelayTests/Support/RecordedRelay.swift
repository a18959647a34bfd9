import CompanionWire
import Testing

@testable import Relay

/// Bytes between strelaysrv 1.19.2 and its clients, as they were recorded.
enum RecordedRelay {
    /// SHA-256 over the certificate of the client that has called.
    static let caller = bytes("a8ca7a5f8ebfd681e5c8fd25320027d5bac601a4efb728413e3c4806a44b969b")
    static let callerText = "VDFHUX4-OX7LIDD-ZOI7UST-EABH2W4-5MMANE5-63SQQJW-6HREANJ-CLS2NQA"
    /// The id of the host that was called.
    static let host = bytes("6c4c06e403d8836a0edb5f69350bc8b72459e677ed9ef2763b77b01f2e8292a4")
    static let hostKey = bytes("f0363b24e5217083830f572909ba46416ab4754b3ca80b1cb2532117858484f7")
    static let deviceKey = bytes("c32531836c551f3af9e16cc5432b670957b4ff9d7ef97ae9e201742e8a6014c1")
    /// Another client's.
    static let other = bytes("7b76b8c8832f1ffae4fde6e6b53e9e854e00bf2b00cedb106c4d76df8e934dde")
    static let otherText = "PN3LRSE-DF4P7VF-ZH543TL-KPU6QVW-HABPZLA-DHNWEDD-MJV3N7D-UTJXPAE"

    /// The address that the relay names in its invitations: 127.0.0.1, as IPv6.
    private static let address = bytes("00000000000000000000ffff7f000001")

    struct Message: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let message: RelayMessage

        var testDescription: String { name }
    }

    static let messages = [
        Message(
            name: "JoinRelayRequest",
            bytes: bytes("9e79bc400000000200000000"),
            message: .joinRelayRequest
        ),
        Message(
            name: "Response: success",
            bytes: bytes("9e79bc40000000040000001000000000000000077375636365737300"),
            message: .response(RelayResponse(code: 0, text: Array("success".utf8)))
        ),
        Message(
            name: "Response: already connected",
            bytes: bytes("9e79bc40000000040000001c0000000200000011616c726561647920636f6e6e6563746564000000"),
            message: .response(RelayResponse(code: 2, text: Array("already connected".utf8)))
        ),
        Message(name: "Ping", bytes: bytes("9e79bc400000000000000000"), message: .ping),
        Message(name: "Pong", bytes: bytes("9e79bc400000000100000000"), message: .pong),
        Message(
            name: "Response: not found",
            bytes: bytes("9e79bc40000000040000001400000001000000096e6f7420666f756e64000000"),
            message: .response(RelayResponse(code: 1, text: Array("not found".utf8)))
        ),
        Message(
            name: "ConnectRequest",
            bytes: bytes(
                "9e79bc400000000500000024000000206c4c06e403d8836a0edb5f69350bc8b72459e677ed9ef2763b77b01f2e8292a4"
            ),
            message: .connectRequest(id(host))
        ),
        Message(
            name: "SessionInvitation to the device",
            bytes: bytes(
                """
                9e79bc400000000600000064000000206c4c06e403d8836a0edb5f69350bc8b72459e677ed9ef2763b77b01f2e8292a400000020\
                c32531836c551f3af9e16cc5432b670957b4ff9d7ef97ae9e201742e8a6014c10000001000000000000000000000ffff7f000001\
                00005a1b00000000
                """
            ),
            message: .sessionInvitation(
                RelaySessionInvitation(
                    invitation: RelayInvitation(from: id(host), key: deviceKey),
                    address: address,
                    port: 23067,
                    isServer: false
                )
            )
        ),
        Message(
            name: "SessionInvitation to the host",
            bytes: bytes(
                """
                9e79bc40000000060000006400000020a8ca7a5f8ebfd681e5c8fd25320027d5bac601a4efb728413e3c4806a44b969b00000020\
                f0363b24e5217083830f572909ba46416ab4754b3ca80b1cb2532117858484f70000001000000000000000000000ffff7f000001\
                00005a1b00000001
                """
            ),
            message: .sessionInvitation(
                RelaySessionInvitation(
                    invitation: RelayInvitation(from: id(caller), key: hostKey),
                    address: address,
                    port: 23067,
                    isServer: true
                )
            )
        ),
        Message(
            name: "JoinSessionRequest",
            bytes: bytes(
                "9e79bc40000000030000002400000020f0363b24e5217083830f572909ba46416ab4754b3ca80b1cb2532117858484f7"
            ),
            message: .joinSessionRequest(key: hostKey)
        ),
    ]

    static func id(_ bytes: [UInt8]) -> RelayID { RelayID(bytes: bytes)! }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// SplitMix64: the same numbers in every run, so that a failure can be repeated.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            withUnsafeBytes(of: next()) { bytes += $0 }
        }
        return Array(bytes.prefix(count))
    }
}
