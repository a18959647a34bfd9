import CompanionWire
import QRCodec

/// How a terminal can show a picture.
package enum TerminalPicture: Sendable, Hashable {
    /// Kitty's graphics protocol; PNG only.
    case kitty
    /// iTerm2's inline images; any format that the terminal can read.
    case inline
    /// Half blocks in 24-bit colours.
    case blocks

    /// The best way to draw on the terminal, judged by its environment variables; nil if there is none.
    package init?(_ context: TerminalContext) {
        guard context.stdoutIsTerminal, context.environment["TERM"] != "dumb" else { return nil }
        let environment = context.environment
        let program = environment["TERM_PROGRAM"] ?? ""
        // A multiplexer forwards colours, but forwards pictures only if it is configured to.
        let isMultiplexed = !environment["TMUX", default: ""].isEmpty || !environment["STY", default: ""].isEmpty
        if !isMultiplexed {
            let isKitty = !environment["KITTY_WINDOW_ID", default: ""].isEmpty || program == "ghostty"
            if isKitty || environment["TERM"] == "xterm-kitty" {
                self = .kitty
                return
            }
            if ["iTerm.app", "WezTerm", "mintty"].contains(program) {
                self = .inline
                return
            }
        }
        guard context.colour, ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") else { return nil }
        self = .blocks
    }

    /// The picture as escape sequences and text for the terminal, followed by a line feed.
    ///
    /// - Parameters:
    ///   - isPNG: Whether the bytes are a PNG file.
    ///   - window: The window's size; nil: 80 columns and 24 rows.
    /// - Throws: `QRCodecError` if the picture has to be decoded here and cannot be.
    package func text(_ bytes: [UInt8], isPNG: Bool, window: TerminalContext.WindowSize?) throws -> String {
        let (columns, rows) = (window?.columns ?? 80, max(2, (window?.rows ?? 24) - 2))
        switch self {
        case .kitty where isPNG: return Self.kittyText(bytes)
        case .inline: return Self.inlineText(bytes)
        case .kitty, .blocks:
            return Self.blocksText(try ColourPreview(bytes, columns: columns, rows: 2 * rows))
        }
    }

    /// The most bytes in one chunk (kitty, "Remote client").
    private static let piece = 4096

    private static func kittyText(_ bytes: [UInt8]) -> String {
        let data = Array(Base64.encode(bytes).utf8)
        var text = ""
        for start in stride(from: 0, to: data.count, by: piece) {
            let end = min(start + piece, data.count)
            // q=2: the terminal must not answer.
            let keys = (start == 0 ? "a=T,f=100,q=2," : "") + "m=\(end < data.count ? 1 : 0)"
            text += "\u{1B}_G\(keys);\(String(decoding: data[start..<end], as: UTF8.self))\u{1B}\\"
        }
        return text + "\n"
    }

    private static func inlineText(_ bytes: [UInt8]) -> String {
        "\u{1B}]1337;File=inline=1;size=\(bytes.count);preserveAspectRatio=1:\(Base64.encode(bytes))\u{07}\n"
    }

    /// Each character is one pixel wide and two pixels high: the foreground colour is the upper pixel, the background
    /// colour the lower one.
    private static func blocksText(_ picture: ColourPreview) -> String {
        var text = ""
        for y in stride(from: 0, to: picture.height, by: 2) {
            for x in 0..<picture.width {
                let upper = picture[x, y]
                text += "\u{1B}[38;2;\(upper.red);\(upper.green);\(upper.blue)"
                if y + 1 < picture.height {
                    let lower = picture[x, y + 1]
                    text += ";48;2;\(lower.red);\(lower.green);\(lower.blue)"
                }
                text += "m▀"
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}
