/// How long a client waits and how much it takes.
package struct CompanionClientConfiguration: Sendable, Hashable {
    package struct Timeouts: Sendable, Hashable {
        /// For a connection to stand. Default: 5 s.
        package var connect: Duration
        /// For a whole JSON answer, from the request to its last byte. Default: 15 s.
        package var request: Duration
        /// For the next byte of a streamed answer. Hosts may be silent for 120 s before they give up themselves.
        /// Default: 150 s.
        package var idle: Duration

        package init(connect: Duration = .seconds(5), request: Duration = .seconds(15), idle: Duration = .seconds(150))
        {
            self.connect = connect
            self.request = request
            self.idle = idle
        }
    }

    package struct Limits: Sendable, Hashable {
        /// The most bytes of a JSON answer. Default: 8 MiB. A page of messages that has more is asked for in smaller ones.
        package var body: Int
        /// The most bytes of a page with a single message, which cannot be made smaller. Default: 64 MiB: a message of
        /// 8 MiB fits even if each of its bytes is escaped (`\u0007`: six for one).
        package var message: Int
        /// The most bytes of one frame of a streamed answer. Default: 4 MiB.
        package var frame: Int
        /// The most bytes of a whole streamed answer. Default: 64 MiB.
        package var answer: Int

        package init(
            body: Int = 8 << 20,
            message: Int = 64 << 20,
            frame: Int = 4 << 20,
            answer: Int = 64 << 20
        ) {
            self.body = body
            self.message = message
            self.frame = frame
            self.answer = answer
        }
    }

    package var timeouts: Timeouts
    package var limits: Limits

    package init(timeouts: Timeouts = Timeouts(), limits: Limits = Limits()) {
        self.timeouts = timeouts
        self.limits = limits
    }

    package static let `default` = CompanionClientConfiguration()
}
