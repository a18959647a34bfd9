import CompanionApp
import CompanionWire
import QRCodec
import Terminal

/// Shows a line on the terminal that tells the person who holds a code what to do.
struct HintLine: CodeHints {
    private let context: TerminalContext
    private let isShown: Bool

    init(_ output: Output) {
        context = output.context
        isShown = output.format == .text && output.context.stderrIsTerminal
    }

    func show(_ hint: FrameHint) {
        show(Self.text(hint))
    }

    /// Explains a code that cannot be used.
    func show(_ content: QRContent) {
        if let shortcoming = content.shortcoming { show("That is \(shortcoming).") }
    }

    func clear() {
        if isShown { context.showProgress(nil) }
    }

    private func show(_ text: String) {
        guard isShown else { return }
        let width = context.windowSize().map { $0.columns - 1 } ?? 79
        context.showProgress(DisplayWidth.cut(TerminalText.line(text), to: max(1, width)))
    }

    static func text(_ hint: FrameHint) -> String {
        switch hint {
        case .showCode: "Hold the code in front of the camera."
        case .tooDark: "Too dark."
        case .tooBright: "Too bright."
        case .moveCloser: "Move closer."
        case .moveBack: "Move back: the whole code has to be in the picture."
        case .holdStill: "Hold still."
        }
    }
}
