/// How long a client waits and how much it takes.
package struct CompanionClientConfiguration: Sendable, Hashable {
    /// How long the client waits.
    package struct Timeouts: Sendable, Hashable {
        /// For a connection to stand. Default: 5 s.
        package var connect: Duration
        /// For a whole JSON answer, from the request to its last byte. Default: 15 s.
        package var request: Duration
        /// For the next byte of a streamed answer. Hosts may be silent for 120 s before they give up themselves.
        /// Default: 150 s.
        package var idle: Duration
        /// The same where the host gives a sign of life every 15 to 20 s (companion-v2, Streams): a connection that is
        /// silent for longer is dead, though nobody has closed it. Default: 45 s.
        package var silence: Duration

        package init(
            connect: Duration = .seconds(5),
            request: Duration = .seconds(15),
            idle: Duration = .seconds(150),
            silence: Duration = .seconds(45)
        ) {
            self.connect = connect
            self.request = request
            self.idle = idle
            self.silence = silence
        }
    }

    /// The sizes beyond which the client rejects an answer.
    package struct Limits: Sendable, Hashable {
        /// The most bytes of a JSON answer. Default: 8 MiB. A page of messages that has more is asked for in smaller
        /// ones.
        package var body: Int
        /// The most bytes of a page with a single message, which cannot be made smaller. Default: 64 MiB: a message of
        /// 8 MiB fits even if each of its bytes is escaped (`\u0007`: six for one).
        package var message: Int
        /// The most bytes of one frame of a streamed answer. Default: 4 MiB.
        package var frame: Int
        /// The most bytes of a whole streamed answer. Default: 64 MiB.
        package var answer: Int
        /// The most bytes of its text. Default: 16 MiB, twice what a host of ours sends.
        package var text: Int
        /// The most frames of it that are no text. Default: 250,000; an agent may send 100,000 updates in a turn.
        package var frames: Int

        package init(
            body: Int = 8 << 20,
            message: Int = 64 << 20,
            frame: Int = 4 << 20,
            answer: Int = 64 << 20,
            text: Int = 16 << 20,
            frames: Int = 250_000
        ) {
            self.body = body
            self.message = message
            self.frame = frame
            self.answer = answer
            self.text = text
            self.frames = frames
        }
    }

    /// How often something that may be repeated is tried again.
    package struct Retries: Sendable, Hashable {
        /// How often in a row. Default: 8, which is about half a minute.
        package var count: Int
        /// The wait before the first one; it doubles from one to the next. Default: 250 ms.
        package var firstWait: Duration
        /// The longest wait. Default: 8 s.
        package var longestWait: Duration

        package init(
            count: Int = 8,
            firstWait: Duration = .milliseconds(250),
            longestWait: Duration = .seconds(8)
        ) {
            self.count = count
            self.firstWait = firstWait
            self.longestWait = longestWait
        }
    }

    /// One of a host's base URLs, where it has two.
    package enum BaseURL: String, CaseIterable, Sendable {
        /// The local address.
        case local
        /// The second base URL.
        case cloud
    }

    /// How long the client waits for the host.
    package var timeouts: Timeouts
    /// How much of an answer the client reads.
    package var limits: Limits
    var retries: Retries
    /// The one base URL that is asked, whatever the other answers. Default: nil, the one that answers.
    package var via: BaseURL?

    package init(
        timeouts: Timeouts = Timeouts(),
        limits: Limits = Limits(),
        retries: Retries = Retries(),
        via: BaseURL? = nil
    ) {
        self.timeouts = timeouts
        self.limits = limits
        self.retries = retries
        self.via = via
    }

    /// The timeouts, limits and retries that their types give as defaults.
    package static let `default` = CompanionClientConfiguration()
}
