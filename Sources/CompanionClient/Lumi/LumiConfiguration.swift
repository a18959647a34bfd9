/// How long a client of a Lumi host waits (lumi, Timeouts to use).
package struct LumiConfiguration: Sendable, Hashable {
    /// For a connection to stand. Default: 8 s.
    package var connect: Duration
    /// For the answer to a ping. Default: 5 s.
    package var ping: Duration
    /// For the answer to most commands. Default: 15 s.
    package var usual: Duration
    /// For a screenshot and for what a shell or script says. Default: 30 s.
    package var slow: Duration
    /// For a file. Default: 20 s.
    package var sync: Duration

    init(
        connect: Duration = .seconds(8),
        ping: Duration = .seconds(5),
        usual: Duration = .seconds(15),
        slow: Duration = .seconds(30),
        sync: Duration = .seconds(20)
    ) {
        self.connect = connect
        self.ping = ping
        self.usual = usual
        self.slow = slow
        self.sync = sync
    }

    package static let `default` = LumiConfiguration()

    /// The port where none is named.
    package static let port = 47285

    func limit(_ pace: LumiRequest.Pace) -> Duration {
        switch pace {
        case .ping: ping
        case .usual: usual
        case .slow: slow
        case .sync: sync
        }
    }
}
