/// The content and behaviour of a ``FakeLumi``.
package struct FakeLumiScript: Sendable {
    /// The generation of the app, by how it accepts connections.
    package enum Generation: Int, Sendable {
        /// Takes anybody.
        case open = 1
        /// Wants six digits.
        case code = 2
        /// Wants its user to accept each connection.
        case approval = 3
    }

    /// The reaction of the Mac's user to a connection.
    package enum User: Sendable, Hashable {
        /// Accepts at this ping of the connection; 1 is the first.
        case accepts(atPing: Int)
        /// Refuses at this ping: the Mac closes.
        case rejects(atPing: Int)
        /// Is not there.
        case isAway
    }

    package var generation = Generation.approval
    package var user = User.accepts(atPing: 2)
    /// Whether `get_sync_data` is known, as it is to hosts of every generation but the oldest.
    package var hasSync = true
    /// The code that hosts of the second generation show.
    package var code = "314159"
    /// Whether a frame that comes in two reads is lost, and two frames in one read end the app.
    package var parsesByRead = false

    package var hostName = "Adas-MacBook-Pro"
    package var volume = 50
    package var isMuted = false
    /// From 0 to 1, as text on the wire.
    package var brightness = "0.75"
    package var apps = ["Finder", "Safari", "Xcode", "Music"]
    package var isPlaying = false
    package var screenshot = FakeLumiScript.screen
    /// The output of the shell, by command.
    package var shell = [
        "uptime": "10:41  up 3 days,  2:07, 2 users, load averages: 1.52 1.61 1.70",
        "sw_vers -productVersion": "15.6.1",
    ]
    /// The sync files, by name.
    package var files = FakeLumiScript.exampleFiles()
    /// The faults; the first one that matches a command counts.
    package var faults: [FakeLumiFault] = []

    package init() {}
}

/// Something that a host does wrong.
package struct FakeLumiFault: Sendable {
    package enum Kind: Sendable {
        /// No answer at all.
        case silence
        /// These bytes in place of an answer.
        case bytes([UInt8])
        /// A frame with this text in place of the answer; `ID` stands for the command's id.
        case payload(String)
        /// The answer, one byte at a time.
        case drip
        /// The answer in two writes, cut behind this many bytes.
        case split(after: Int)
        /// An answer to nobody's command, then the answer.
        case strangerFirst
        /// The answer, and the same again.
        case twice
        /// Nothing; the answer comes before and after that to the next command.
        case withNext
        /// The answer waits at a gate.
        case hold(gate: String)
        case close
        case reset
    }

    package var kind: Kind
    /// Which commands; nil: all.
    package var command: String?
    /// How often; nil: for ever.
    package var times: Int?
    /// How many of those commands go well before.
    package var skip: Int

    package init(_ kind: Kind, on command: String? = nil, times: Int? = nil, skip: Int = 0) {
        self.kind = kind
        self.command = command
        self.times = times
        self.skip = skip
    }
}
