import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import Desktop
import Discovery
import Foundation
import History
import PairingAgent
import Providers
import QRCodec
import Terminal
import Testing

@testable import pairtool

/// Errors of all modules are shown in one style: `pairtool: port 7878 is taken`.
@Suite struct MessageStyleTests {
    @Test(
        "An error of any module begins in lower case, and has no full stop if it is one sentence",
        arguments: [
            (CompanionClientError(.tooLarge, message: "The answer is too large."), "the answer is too large"),
            (
                CompanionClientError(.notFound, message: "Not found on 192.168.1.5:7878.", hostText: "gone"),
                "not found on 192.168.1.5:7878. The host says: gone"
            ),
            (CompanionHostError(.portInUse, "Port 7878 is taken."), "port 7878 is taken"),
            (
                CompanionHostError(.portInUse, "Port 7879 is taken. It is the HTTPS port."),
                "port 7879 is taken. It is the HTTPS port."
            ),
            (AdminError(.unusable, "Cannot listen on /run/x: no."), "cannot listen on /run/x: no"),
            (
                ProviderError(.rateLimited, provider: .openai, message: "Rate limit reached at OpenAI."),
                "rate limit reached at OpenAI"
            ),
            (
                ProviderError(.image, provider: nil, message: "Gemini does not accept GIF pictures."),
                "Gemini does not accept GIF pictures"
            ),
            (DesktopError(.failed, message: "The clipboard is empty."), "the clipboard is empty"),
            (
                DiscoveryError(.engineUnavailable, message: "Avahi's event loop has ended"),
                "Avahi's event loop has ended"
            ),
            (QRCodecError(.io, message: "Cannot open code.png: no."), "cannot open code.png: no"),
            (HistoryError(.damaged, "There is no history."), "there is no history"),
            (PairingError(.unreachable, "No connection to 10.0.0.1:1."), "no connection to 10.0.0.1:1"),
            (AppError(.failed, "x", "The Mac: it is gone."), "The Mac: it is gone."),
        ] as [(any Error, String)]
    )
    func style(error: any Error, shown: String) {
        #expect(AppError(describing: error).message == shown)
    }

    @Test(
        "The name of a host or a device that an error begins with stays as it is",
        arguments: ["The Mac", "Port 3", "No One"]
    )
    func names(name: String) throws {
        var lost = CompanionClientError(.unreachable, message: "\(name) (192.168.1.5:7878) did not answer in time.")
        lost.beginsWithName = true
        #expect(AppError(describing: lost).message == "\(name) (192.168.1.5:7878) did not answer in time")
        let late = CompanionClientError(
            .alreadyDecided,
            message: "x",
            hostText: "\(name) answered first: the question was approved"
        )
        #expect(AppError(describing: late).message == "\(name) answered first: the question was approved")
    }

    @Test("The first word of every error in the sources is one that is shown in lower case, or a known name")
    func firstWords() throws {
        let sources = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources"
        let names: Set = ["Git", "Jarvis", "Gemini"]
        // What the host answers is quoted as it is.
        let quoted: Set = ["HostError", "HostResponseError"]
        let pattern = try Regex(
            #"(\w*)\(\s*\.\w+,\s*(?:\w[\w.]*,\s*)?"([A-Z][a-z]+)[ ,:]"#,
            as: (Substring, Substring, Substring).self
        )
        var count = 0
        for module in try FileManager.default.contentsOfDirectory(atPath: sources) {
            // The command line writes its own in this style; findings of doctor are no errors.
            guard !["pairtool", "Doctor"].contains(module) else { continue }
            let files = FileManager.default.enumerator(atPath: "\(sources)/\(module)")
            while let file = files?.nextObject() as? String {
                guard file.hasSuffix(".swift") else { continue }
                let text = try String(contentsOfFile: "\(sources)/\(module)/\(file)", encoding: .utf8)
                for match in text.matches(of: pattern) where !quoted.contains(String(match.output.1)) {
                    count += 1
                    let word = String(match.output.2)
                    guard !names.contains(word) else { continue }
                    let shown = MessageStyle.sentence("\(word) x.")
                    #expect(shown == "\(word.lowercased()) x", "\(module)/\(file): \(word)")
                }
            }
        }
        #expect(count > 80)
    }

    @Test("Warnings are marked as pairtool's, like errors")
    func warnings() {
        let messages = MemorySink()
        var context = TerminalContext.process
        (context.stderr, context.stderrIsTerminal) = (messages, false)
        let output = Output(context: context, format: .text)
        output.warn(AppError(describing: CompanionHostError(.portInUse, "Port 7878 is taken.")))
        #expect(messages.text == "pairtool: port 7878 is taken\n")
    }
}
