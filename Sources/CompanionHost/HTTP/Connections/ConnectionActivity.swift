import NIOCore

/// Follows the phase of one connection, and tells the gate whenever it changes. Belongs to the connection's event loop.
final class ConnectionActivity {
    private let gate: ConnectionGate
    private let id: ConnectionPolicy.ID
    private var phase: ConnectionPolicy.Phase
    /// Requests whose answer is not complete.
    private var requests = 0
    /// Whether the end of a request's body is still to come.
    private var isReading = false
    /// Whether an answer to the request that is being read has begun.
    private var isAnswered = false

    init(gate: ConnectionGate, channel: any Channel, isSecure: Bool) {
        self.gate = gate
        id = ConnectionGate.id(of: channel)
        phase = isSecure ? .handshake : .idle
    }

    var isInHandshake: Bool { phase == .handshake }

    /// Whether the peer waits for nothing but an answer to the request that it is sending.
    var mayBeAnswered: Bool { phase == .head || phase == .body && !isAnswered }

    func handshakeCompleted() {
        if phase == .handshake { become(.idle) }
    }

    func bytesCame() {
        if phase == .idle { become(.head) }
    }

    func headCame() {
        requests += 1
        isReading = true
        isAnswered = false
    }

    func endCame() {
        isReading = false
        update()
    }

    /// All that came at once has been looked at. A request that came whole was never slow.
    func readCompleted() {
        if isReading { become(.body) }
    }

    func answerBegan() {
        isAnswered = true
    }

    func answerEnded() {
        requests -= 1
        update()
    }

    func becameLive() {
        become(.live)
    }

    private func update() {
        become(isReading ? .body : requests > 0 ? .answer : .idle)
    }

    private func become(_ phase: ConnectionPolicy.Phase) {
        guard phase != self.phase, self.phase != .live else { return }
        self.phase = phase
        gate.enter(phase, id: id)
    }
}
