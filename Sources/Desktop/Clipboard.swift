import QRCodec
import Subprocess

/// The clipboard of the desktop. It is read with the programs that desktops have for it: `wl-paste` on Wayland, `xclip`
/// on X11.
package struct Clipboard: Sendable {
    /// How a program is asked.
    private struct Program {
        var name: String
        /// The Debian package that it comes in.
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
        var variables: [Environment.Key: String] = [:]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        let settings = Environment.custom(variables)
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                do {
                    let result = try await Subprocess.run(
                        .name(program.name),
                        arguments: Arguments(arguments),
                        environment: settings,
                        output: .bytes(limit: limit),
                        error: .string(limit: 64 << 10)
                    )
                    guard result.terminationStatus.isSuccess else {
                        // Both say so with a sentence and a status of 1.
                        let why = result.standardError.split(separator: "\n").first.map { ": \($0)" } ?? ""
                        throw DesktopError(.empty, message: "the clipboard gives nothing\(why)")
                    }
                    return result.standardOutput
                } catch let error as DesktopError {
                    throw error
                } catch let error as SubprocessError where error.code == .executableNotFound {
                    throw DesktopError(
                        .noProgram,
                        message: "the clipboard is read by \(program.name), which is not installed",
                        remedy: "sudo apt install \(program.package)"
                    )
                } catch let error as SubprocessError where error.code == .outputLimitExceeded {
                    throw DesktopError(
                        .tooLarge,
                        message: "the clipboard has more than the \(limit) bytes that are read"
                    )
                } catch {
                    try Task.checkCancellation()
                    throw DesktopError(.failed, message: "\(program.name) could not be run to its end: \(error)")
                }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let output = try await group.next() ?? nil else {
                throw DesktopError(
                    .failed,
                    message: "\(program.name) gives no answer: the program that copied may hang"
                )
            }
            return output
        }
    }
}
