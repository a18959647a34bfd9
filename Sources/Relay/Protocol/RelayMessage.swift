package import CompanionWire

/// A message of the protocol between relays and those who use them (Syncthing, relay protocol v1).
package enum RelayMessage: Sendable, Hashable {
    case ping
    case pong
    /// Asks to be called through the relay. A token, which newer relays may want, is neither written nor kept.
    case joinRelayRequest
    /// Asks for the pipe that an invitation has named.
    case joinSessionRequest(key: [UInt8])
    case response(RelayResponse)
    /// Asks for a pipe to somebody who has joined.
    case connectRequest(RelayID)
    case sessionInvitation(RelaySessionInvitation)
    case relayFull

    /// The magic number at the beginning of every message.
    static let magic: [UInt8] = [0x9E, 0x79, 0xBC, 0x40]
    /// Bytes of magic number, type and length.
    static let headerLength = 12
    /// The most bytes of what follows the header. The relay itself has the same limit.
    static let longestBody = 1024

    /// The message as it is sent.
    package var bytes: [UInt8] {
        var body = XDRWriter()
        switch self {
        case .ping, .pong, .joinRelayRequest, .relayFull: break
        case .joinSessionRequest(let key): body.write(opaque: key)
        case .response(let response):
            body.write(UInt32(bitPattern: response.code))
            body.write(opaque: response.text)
        case .connectRequest(let id): body.write(opaque: id.bytes)
        case .sessionInvitation(let invitation): invitation.write(to: &body)
        }
        var message = XDRWriter()
        message.write(type)
        message.write(opaque: body.bytes)
        return Self.magic + message.bytes
    }

    private var type: UInt32 {
        switch self {
        case .ping: 0
        case .pong: 1
        case .joinRelayRequest: 2
        case .joinSessionRequest: 3
        case .response: 4
        case .connectRequest: 5
        case .sessionInvitation: 6
        case .relayFull: 7
        }
    }

    static let types: ClosedRange<UInt32> = 0...7

    /// Reads the body of a message.
    ///
    /// - Returns: nil for an unknown type, and for a body that is not exactly one of that type.
    init?(type: UInt32, body: ArraySlice<UInt8>) {
        var reader = XDRReader(body)
        switch type {
        case 0: self = .ping
        case 1: self = .pong
        case 2:
            guard body.isEmpty || reader.readOpaque(atMost: Self.longestBody) != nil else { return nil }
            self = .joinRelayRequest
        case 3:
            guard let key = reader.readOpaque(atMost: RelayInvitation.longestKey) else { return nil }
            self = .joinSessionRequest(key: key)
        case 4:
            guard let code = reader.readNumber(), let text = reader.readOpaque(atMost: Self.longestBody) else {
                return nil
            }
            self = .response(RelayResponse(code: Int32(bitPattern: code), text: text))
        case 5:
            guard let bytes = reader.readOpaque(atMost: RelayID.byteCount), let id = RelayID(bytes: bytes) else {
                return nil
            }
            self = .connectRequest(id)
        case 6:
            guard let invitation = RelaySessionInvitation(from: &reader) else { return nil }
            self = .sessionInvitation(invitation)
        case 7: self = .relayFull
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}

/// The answer of a relay to a request.
package struct RelayResponse: Sendable, Hashable {
    static let success: Int32 = 0
    static let notFound: Int32 = 1
    static let alreadyConnected: Int32 = 2

    /// 0: success; 1: not found; 2: already connected; 99: internal error; 100: unexpected message.
    package let code: Int32
    /// The relay's words as they came.
    package let text: [UInt8]

    package init(code: Int32, text: [UInt8]) {
        (self.code, self.text) = (code, text)
    }

    /// The relay's words for people: the first 200 bytes on one line, without control characters.
    package var shownText: String {
        TerminalText.line(String(decoding: text.prefix(200), as: UTF8.self)).trimmingWhitespace()
    }
}
