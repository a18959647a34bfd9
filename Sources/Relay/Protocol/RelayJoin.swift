/// A host's conversation with a relay: it joins, and is then told of devices that call.
struct RelayJoin: RelayConversation {
    private enum State {
        case idle
        case joining
        /// - Parameter isAsked: Whether the relay was asked for a sign of life, and has not given one yet.
        case joined(isAsked: Bool)
        case over
    }

    private let relay: String
    private var state = State.idle

    /// - Parameter relay: The address and port of the relay, for errors.
    init(relay: String) {
        self.relay = relay
    }

    mutating func handle(_ event: RelayEvent) -> [RelayAction] {
        switch (state, event) {
        case (.idle, .connected):
            state = .joining
            return [.send(.joinRelayRequest)]
        case (.joined(isAsked: false), .silence):
            // Relays ping every minute, unless they are configured otherwise.
            state = .joined(isAsked: true)
            return [.send(.ping)]
        case (.joined(isAsked: true), .silence):
            return fail(RelayError(.timedOut, message: "The relay \(relay) has stopped answering."))
        case (.joining, .message(let message)), (.joined, .message(let message)):
            return handle(message)
        case (.idle, .message):
            return fail(.badMessage(relay, it: "sent a message before it was asked"))
        case (.over, _), (_, .connected), (_, .silence):
            return []
        }
    }

    private mutating func handle(_ message: RelayMessage) -> [RelayAction] {
        var hasJoined = false
        if case .joined = state { hasJoined = true }
        if hasJoined { state = .joined(isAsked: false) }
        switch message {
        case .ping:
            return [.send(.pong)]
        case .pong:
            return [.ponged]
        case .relayFull:
            return fail(.full(relay))
        case .response(let response) where response.code != RelayResponse.success:
            return fail(hasJoined ? .refused(relay, response: response) : refusal(response))
        case .response where !hasJoined:
            state = .joined(isAsked: false)
            return [.joined]
        case .sessionInvitation(let message) where hasJoined:
            return [.invited(message.invitation)]
        default:
            return fail(.badMessage(relay, it: "sent a message that does not belong there"))
        }
    }

    private func refusal(_ response: RelayResponse) -> RelayError {
        guard response.code == RelayResponse.alreadyConnected else { return .refused(relay, response: response) }
        return RelayError(
            .alreadyConnected,
            message: "The relay \(relay) has a connection of this host already. Either the host runs twice, or the "
                + "relay has not noticed yet that an earlier connection is gone."
        )
    }

    private mutating func fail(_ error: RelayError) -> [RelayAction] {
        state = .over
        return [.fail(error)]
    }
}
