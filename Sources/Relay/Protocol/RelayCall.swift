import CompanionWire

/// A device's conversation with a relay: it asks for a host, and is invited to a pipe that leads there.
struct RelayCall: RelayConversation {
    private enum State {
        case idle, asking, over
    }

    private let host: RelayID
    private let relay: String
    private var state = State.idle

    /// - Parameters:
    ///   - host: The id with which the host has joined.
    ///   - relay: The address and port of the relay, for errors.
    init(to host: RelayID, relay: String) {
        (self.host, self.relay) = (host, relay)
    }

    mutating func handle(_ event: RelayEvent) -> [RelayAction] {
        switch (state, event) {
        case (.idle, .connected):
            state = .asking
            return [.send(.connectRequest(host))]
        case (.asking, .message(let message)):
            return handle(message)
        case (.idle, .message):
            return end(with: .fail(.badMessage(relay, it: "sent a message before it was asked")))
        case (.over, _), (_, .connected), (_, .silence):
            return []
        }
    }

    private mutating func handle(_ message: RelayMessage) -> [RelayAction] {
        switch message {
        case .ping:
            [.send(.pong)]
        case .relayFull:
            end(with: .fail(.full(relay)))
        case .response(let response) where response.code == RelayResponse.notFound:
            end(with: .fail(RelayError(.notFound, message: "The host is not connected to the relay \(relay).")))
        case .response(let response) where response.code != RelayResponse.success:
            end(with: .fail(.refused(relay, response: response)))
        case .sessionInvitation(let message) where message.invitation.from == host:
            end(with: .invited(message.invitation))
        case .sessionInvitation:
            end(with: .fail(.badMessage(relay, it: "answered for another host than the one that was called")))
        default:
            end(with: .fail(.badMessage(relay, it: "sent a message that does not belong there")))
        }
    }

    private mutating func end(with action: RelayAction) -> [RelayAction] {
        state = .over
        return [action]
    }
}
