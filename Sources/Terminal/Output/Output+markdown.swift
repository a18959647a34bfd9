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

extension TerminalContext {
    /// Whether the terminal is known to show links (OSC 8). Others may print a part of the address.
    package var hasLinks: Bool {
        guard stdoutIsTerminal else { return false }
        func isSet(_ name: String) -> Bool { !environment[name, default: ""].isEmpty }
        // A multiplexer decides for the terminal around it. tmux passes links on since 3.4.
        if isSet("TMUX") {
            let version = environment["TERM_PROGRAM_VERSION"]?.parts(".").prefix(2).compactMap { part in
                Int(part.prefix { "0123456789".utf8.contains($0.utf8.first ?? 0) })
            }
            guard environment["TERM_PROGRAM"] == "tmux", let version, version.count == 2 else { return false }
            return (version[0], version[1]) >= (3, 4)
        }
        if isSet("STY") { return false }
        if let version = environment["VTE_VERSION"].flatMap({ Int($0) }) { return version >= 5000 }
        let terminals: Set = ["iTerm.app", "WezTerm", "vscode", "ghostty", "mintty"]
        let types: Set = ["xterm-kitty", "alacritty", "foot", "foot-extra", "xterm-ghostty", "wezterm"]
        return terminals.contains(environment["TERM_PROGRAM"] ?? "") || types.contains(environment["TERM"] ?? "")
            || isSet("KITTY_WINDOW_ID") || isSet("WT_SESSION") || isSet("KONSOLE_VERSION")
    }
}
