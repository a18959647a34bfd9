import CompanionWire
package import Markdown

extension Output {
    /// How Markdown is shown at the terminal; nil where text is passed on as it is: to a pipe, with `--plain`, `--json`,
    /// `-q` or `NO_COLOR`, and to a terminal without colours.
    package var markdown: MarkdownOptions? {
        guard format == .text, !isPlain, context.colour else { return nil }
        return MarkdownOptions(columns: context.windowSize()?.columns ?? 80, hasLinks: context.hasLinks)
    }

    /// A text in the terminal's faint style; sanitised.
    package func faint(_ text: String) -> String {
        Self.faint(text, hasColour: context.colour)
    }

    /// A message for standard error in the terminal's faint style; sanitised.
    package func faintMessage(_ text: String) -> String {
        Self.faint(text, hasColour: context.colour && context.stderrIsTerminal)
    }

    private static func faint(_ text: String, hasColour: Bool) -> String {
        hasColour ? "\u{1B}[2m\(TerminalText.line(text))\u{1B}[0m" : TerminalText.line(text)
    }
}
