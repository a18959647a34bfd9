/// How a ``FakeMac`` answers one prompt.
package struct FakeMacTurn: Sendable {
    package enum Step: Sendable {
        /// A frame: the JSON behind `data: `.
        case frame(String)
        /// A frame, one byte at a time.
        case drip(String)
        /// Bytes as they are.
        case raw([UInt8])
        /// Waits for ``FakeMac/release(_:)``; ``FakeMac/reached(_:)`` tells when it does.
        case hold(String)
        /// `data: [DONE]`, and the end of the body.
        case end
        /// The end of the body without `[DONE]`, as behind an error frame.
        case finish
        /// The end of the connection without `[DONE]`. What follows happens at the host only.
        case eof
        /// A TCP reset. What follows happens at the host only.
        case reset
        /// The answer is in the history from here on.
        case store
    }

    package var steps: [Step]
    /// The answer that the history keeps. Nil: none.
    package var answer: String?
    /// The answer is in the history when it is read for the n-th time after the prompt (1: at once).
    package var storedAtRead: Int?
    /// Whether the history keeps the prompt.
    package var storesPrompt = true
    /// Breaks the connection before the head of the answer.
    package var resetsBeforeHead = false
    /// Whether the body has chunks (Node's way); else it lasts until the connection closes.
    package var isChunked = true

    package init(steps: [Step], answer: String? = nil) {
        self.steps = steps
        self.answer = answer
    }

    /// An answer in the way of deployed hosts: deltas, `done`, then the last 256 UTF-16 units, then `[DONE]`.
    ///
    /// - Parameters:
    ///   - unitsPerFrame: The length of each delta, in UTF-16 units: a cut may be inside a character. Default: 64.
    ///   - prelude: Frames before the text.
    package static func answering(
        _ answer: String,
        unitsPerFrame: Int = 64,
        prelude: [String] = []
    ) -> FakeMacTurn {
        let units = Array(answer.utf16)
        let held = max(units.count - 256, 0)
        var frames = prelude
        for start in stride(from: 0, to: held, by: unitsPerFrame) {
            frames.append(text(units[start..<min(start + unitsPerFrame, held)]))
        }
        frames.append(#"{"type":"done"}"#)
        if held < units.count { frames.append(text(units[held...])) }
        return FakeMacTurn(steps: frames.map(Step.frame) + [.store, .end], answer: answer)
    }

    /// A text frame's JSON.
    package static func text(_ text: String) -> String {
        self.text(Array(text.utf16)[...])
    }

    /// A text frame's JSON, of UTF-16 units: lone halves become escapes.
    package static func text(_ units: ArraySlice<UInt16>) -> String {
        #"{"type":"text","text":\#(JSONText.quoted(units))}"#
    }
}
