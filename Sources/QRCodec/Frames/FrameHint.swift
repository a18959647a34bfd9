/// Advice to the user that helps the camera to read the code.
package enum FrameHint: String, Sendable, Hashable, CaseIterable {
    /// No code is in sight.
    case showCode
    case tooDark
    case tooBright
    case moveCloser
    case moveBack
    /// The code is in sight but blurred, or does not keep still.
    case holdStill
}

/// The properties of a frame that ``FrameHints`` depend on.
package struct FrameView: Sendable {
    /// The brightness of the frame.
    package var light: FrameLight
    /// The shorter side, in pixels.
    package var side: Int
    /// The likeliest symbol in the frame, read or not; `nil` if there is none.
    package var symbol: SymbolCandidate?
    /// Whether it could be read.
    package var isRead: Bool

    init(
        light: FrameLight,
        side: Int,
        symbol: SymbolCandidate? = nil,
        isRead: Bool = false
    ) {
        (self.light, self.side, self.symbol, self.isRead) = (light, side, symbol, isRead)
    }
}

/// Says what would help, from one frame to the next; what it says stays for some frames, so that it can be read.
package struct FrameHints: Sendable {
    /// Frames that have to want the same before it is said instead of something else.
    package static let steadiness = 6
    /// The shade below which even the light parts of a frame are dark, and above which even the dark ones are light.
    private static let (darkest, brightest) = (70, 200)
    /// Pixels a module below which a code is too far away.
    private static let leastModule = 2.2
    /// The share of the picture's side that a code may take.
    private static let largestShare = 0.95
    /// Modules that a code may move from one frame to the next and count as still.
    private static let mostMovement = 1.5

    private var last: (x: Double, y: Double)?
    private var shown: FrameHint?
    private var coming: (hint: FrameHint, frames: Int)?

    init() {}

    /// Takes the next frame, and returns the hint to show from now on.
    package mutating func take(_ view: FrameView) -> FrameHint {
        let hint = wanted(view)
        last = view.symbol.map { ($0.x, $0.y) }
        // Of a code that was read, one more frame will do: that is said at once.
        guard let shown, shown != hint, !view.isRead else {
            shown = hint
            coming = nil
            return hint
        }
        let frames = coming?.hint == hint ? (coming?.frames ?? 0) + 1 : 1
        coming = (hint, frames)
        guard frames >= Self.steadiness else { return shown }
        self.shown = hint
        coming = nil
        return hint
    }

    private func wanted(_ view: FrameView) -> FrameHint {
        if view.isRead { return .holdStill }
        guard let symbol = view.symbol else {
            if view.light.light < Self.darkest { return .tooDark }
            return view.light.dark > Self.brightest ? .tooBright : .showCode
        }
        if symbol.module < Self.leastModule { return .moveCloser }
        if symbol.module * symbol.size > Self.largestShare * Double(view.side) { return .moveBack }
        if let last {
            let (x, y) = (symbol.x - last.x, symbol.y - last.y)
            if (x * x + y * y).squareRoot() > Self.mostMovement * symbol.module { return .holdStill }
        }
        if view.light.light < Self.darkest { return .tooDark }
        // Neither dark nor moving: there are too few pixels, or it is out of focus.
        return symbol.module < 2 * Self.leastModule ? .moveCloser : .holdStill
    }
}
