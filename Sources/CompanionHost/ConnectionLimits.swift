/// The limits of a host's connections. Each address is a peer: IPv4 within IPv6 counts as IPv4, and `::1` as
/// `127.0.0.1`.
package struct ConnectionLimits: Sendable, Hashable {
    /// Connections at a time, of all sockets together. Default: 2,048; fewer where the system allows fewer files.
    package var total: Int
    /// Connections of one address. Default: 1,536.
    package var perAddress: Int
    /// TLS handshakes of one address that are not complete. Default: 256.
    package var handshakesPerAddress: Int
    /// Requests of one address whose body is not whole. Default: 64.
    package var bodiesPerAddress: Int
    /// How long a TLS handshake may take. Default: 10 s.
    package var handshake: Duration
    /// How long the head of a request may take from its first byte on. Default: 10 s.
    package var head: Duration
    /// How long the body of a request may take from its head on. Default: 30 s.
    package var body: Duration
    /// How long a client that has proven nothing may take to read an answer. Default: 60 s.
    package var answer: Duration

    package init(
        total: Int = 2048,
        perAddress: Int = 1536,
        handshakesPerAddress: Int = 256,
        bodiesPerAddress: Int = 64,
        handshake: Duration = .seconds(10),
        head: Duration = .seconds(10),
        body: Duration = .seconds(30),
        answer: Duration = .seconds(60)
    ) {
        self.total = total
        self.perAddress = perAddress
        self.handshakesPerAddress = handshakesPerAddress
        self.bodiesPerAddress = bodiesPerAddress
        self.handshake = handshake
        self.head = head
        self.body = body
        self.answer = answer
    }
}
