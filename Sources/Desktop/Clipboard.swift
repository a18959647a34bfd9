import QRCodec

/// The clipboard of the desktop. It is read with the programs that desktops have for it: `wl-paste` on Wayland, `xclip`
/// on X11.
package struct Clipboard: Sendable {
    /// How a program is asked.
    private struct Program {
        var name: String
        var package: String
        var listTypes: [String]
        var paste: @Sendable (_ type: String) -> [String]

        static let wayland = Program(
            name: "wl-paste",
            package: "wl-clipboard",
            listTypes: ["--list-types"],
            paste: { ["--no-newline", "--type", $0] }
        )
        static let x11 = Program(
            name: "xclip",
            package: "xclip",
            listTypes: ["-selection", "clipboard", "-o", "-t", "TARGETS"],
            paste: { ["-selection", "clipboard", "-o", "-t", $0] }
        )
    }

    /// The picture types that are read, the usual one first.
    private static let pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]
    private static let textTypes = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING", "TEXT"]
    /// A program whose copy the clipboard is may hang.
    private static let patience = Duration.seconds(10)

    private let environment: [String: String]

    /// - Parameter environment: Names the desktop (`WAYLAND_DISPLAY`, else `DISPLAY`); the program gets all of it.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The content of the clipboard, as the program that copied it gives it.
    package enum Content: Sendable, Hashable {
        /// An image file.
        case picture([UInt8])
        /// UTF-8, as a rule.
        case text([UInt8])
    }

    /// The picture in the clipboard, or else the text.
    ///
    /// - Throws: ``DesktopError`` with the code `noClipboard`, `noProgram`, `empty`, `tooLarge` or `failed`;
    ///   `CancellationError`.
    package func content() async throws -> Content {
        let program = try program()
        let offered = try await run(program, with: program.listTypes, limit: 64 << 10)
        let types = Set(String(decoding: offered, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init))
        guard let type = (Self.pictureTypes + Self.textTypes).first(where: types.contains) else {
            throw DesktopError(.empty, message: "the clipboard has neither a picture nor text")
        }
        let content = try await run(program, with: program.paste(type), limit: ImageLimits.default.maxFileBytes)
        guard !content.isEmpty else { throw DesktopError(.empty, message: "the clipboard is empty") }
        return type.utf8.starts(with: "image/".utf8) ? .picture(content) : .text(content)
    }

    private func program() throws(DesktopError) -> Program {
        func has(_ name: String) -> Bool { environment[name, default: ""].isEmpty == false }
        if has("WAYLAND_DISPLAY") { return .wayland }
        if has("DISPLAY") { return .x11 }
        throw DesktopError(
            .noClipboard,
            message: "there is no desktop whose clipboard could be read: neither DISPLAY nor WAYLAND_DISPLAY is set",
            remedy: "run it in a terminal of the desktop"
        )
    }

    private func run(_ program: Program, with arguments: [String], limit: Int) async throws -> [UInt8] {
        let tool = DesktopProgram(
            name: program.name,
            package: program.package,
            subject: "the clipboard",
            patience: Self.patience
        )
        let answer = try await tool.run(arguments, environment: environment, limit: limit)
        guard answer.isSuccess else {
            // Both say so with a sentence and a status of 1.
            throw DesktopError(
                .empty,
                message: "the clipboard gives nothing\(answer.complaint.map { ": \($0)" } ?? "")"
            )
        }
        return answer.output
    }
}
