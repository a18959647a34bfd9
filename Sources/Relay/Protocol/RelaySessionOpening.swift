/// The opening of a pipe, by either side: the key of an invitation is sent, and all but the relay's answer belongs to
/// the pipe.
struct RelaySessionOpening: Sendable {
    enum Event: Sendable {
        /// The connection stands.
        case connected
        case received([UInt8])
    }

    enum Action: Sendable {
        case send(RelayMessage)
        /// The pipe is open.
        ///
        /// - Parameter early: What the other side has sent already, and came together with the relay's answer.
        case open(early: [UInt8])
        /// There is no pipe; the connection has to be closed.
        case fail(RelayError)
    }

    private enum State {
        case idle, asking, over
    }

    /// The answer of relays, word by word, as it is looked for between other bytes.
    private static let success = RelayMessage.response(
        RelayResponse(code: RelayResponse.success, text: Array("success".utf8))
    ).bytes
    /// The most bytes of the other side before the relay's answer.
    static let mostBytesBeforeAnswer = 256 << 10

    private let key: [UInt8]
    private let relay: String
    private var received: [UInt8] = []
    /// The index from which the answer is looked for, if it is not at the beginning.
    private var place = 0
    private var state = State.idle

    /// - Parameters:
    ///   - key: The key of the invitation.
    ///   - relay: The address and port of the relay, for errors.
    init(key: [UInt8], relay: String) {
        (self.key, self.relay) = (key, relay)
    }

    /// Returns what has to be done about an event; nil: nothing. Bytes must not come after ``Action/open(early:)``.
    mutating func handle(_ event: Event) -> Action? {
        switch (state, event) {
        case (.idle, .connected):
            state = .asking
            return .send(.joinSessionRequest(key: key))
        case (.idle, .received):
            return end(with: .fail(.badMessage(relay, it: "sent a message before it was asked")))
        case (.asking, .received(let bytes)):
            received += bytes
            return readAnswer()
        case (.asking, .connected), (.over, _):
            return nil
        }
    }

    /// Reads the relay's answer.
    ///
    /// It comes first, but for a race in strelaysrv 1.19.2: the relay connects the two sides before it answers the
    /// second one, so what the first has sent already may overtake the answer. An answer is written as a whole, so it
    /// is found between the other side's bytes. Whoever sends the same bytes spoils its own connection only: TLS
    /// notices.
    private mutating func readAnswer() -> Action? {
        guard zip(received, RelayMessage.magic).allSatisfy({ $0 == $1 }) else { return findSuccess() }
        var decoder = RelayMessageDecoder(relay: relay)
        decoder.append(received)
        do throws(RelayError) {
            guard let message = try decoder.next() else { return nil }
            return handle(message, rest: decoder.takeRest())
        } catch {
            return end(with: .fail(error))
        }
    }

    private mutating func findSuccess() -> Action? {
        while let start = received[place...].firstIndex(of: Self.success[0]) {
            let candidate = received[start...].prefix(Self.success.count)
            if candidate.elementsEqual(Self.success) {
                return end(with: .open(early: Array(received[..<start] + received[candidate.endIndex...])))
            }
            // The rest of it may be on its way.
            place = start
            if Self.success.starts(with: candidate) { return refuseIfTooLong() }
            place += 1
        }
        place = received.count
        return refuseIfTooLong()
    }

    private mutating func refuseIfTooLong() -> Action? {
        guard received.count > Self.mostBytesBeforeAnswer else { return nil }
        return end(with: .fail(.badMessage(relay, it: "sent something else")))
    }

    private mutating func handle(_ message: RelayMessage, rest: [UInt8]) -> Action {
        guard case .response(let response) = message else {
            return end(with: .fail(.badMessage(relay, it: "sent a message that does not belong there")))
        }
        switch response.code {
        case RelayResponse.success:
            return end(with: .open(early: rest))
        case RelayResponse.notFound, RelayResponse.alreadyConnected:
            // Strelaysrv 1.19.2 also answers "already connected" where both sides come at the very same moment, and
            // has then lost the session: it takes the second only while it waits for it.
            let lost = RelayError(
                .sessionLost,
                message: "The relay \(relay) has lost the session before it was open."
            )
            return end(with: .fail(lost))
        default:
            return end(with: .fail(.refused(relay, response: response)))
        }
    }

    private mutating func end(with action: Action) -> Action {
        state = .over
        received = []
        return action
    }
}
