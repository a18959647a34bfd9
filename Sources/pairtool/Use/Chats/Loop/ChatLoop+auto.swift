import CompanionApp
import CompanionClient
import FoundationEssentials
import NIOConcurrencyHelpers

// MARK: Auto mode

extension ChatLoop {
    /// Sends the follow-up prompts of auto mode until the mode is done. The first Ctrl-C lets the running answer finish
    /// and sends no further prompt.
    ///
    /// - Parameter begin: When the user's prompt was sent. The mode's time limit counts from then.
    mutating func goOn(since begin: Date) async throws {
        guard var auto else { return }
        let output = output
        auto.begin()
        let wantsStop = NIOLockedValueBox(false)
        while true {
            if wantsStop.withLockedValue(\.self) { auto.stop() }
            let elapsed = Duration.seconds(max(0, output.context.now().timeIntervalSince(begin)))
            switch auto.answered(conversation.lastAnswer, elapsed: elapsed) {
            case .stop(let reason):
                output.say("Auto mode ended: \(reason).")
                return
            case .send(let prompt):
                output.say("› \(prompt) (auto mode, \(auto.sent) of at most \(auto.mostMessages); Ctrl-C stops it)")
                let before = conversation
                let outcome = try await run(stoppedWaiting) {
                    let isFirst = wantsStop.withLockedValue { wants in
                        defer { wants = true }
                        return !wants
                    }
                    if isFirst { output.say("Auto mode stops after this answer. Ctrl-C again stops waiting for it.") }
                    return !isFirst
                } _: {
                    var next = before
                    try await next.send(prompt)
                    return next
                }
                guard case .value(let sent) = outcome else {
                    let reason = wantsStop.withLockedValue(\.self) ? AutoResponse.Reason.stopped : .failed
                    output.say("Auto mode ended: \(reason).")
                    return
                }
                conversation = sent
            }
        }
    }

    /// Shows or sets auto mode.
    mutating func choose(_ word: String?) {
        if word == "off" {
            auto = nil
        } else if let word {
            guard let mode = AutoResponse.Mode(rawValue: word) else {
                let modes = AutoResponse.Mode.allCases.map(\.rawValue).joined(separator: ", ")
                output.say("Unknown mode. The modes are: \(modes), off")
                return
            }
            auto = AutoResponse(mode: mode, limits: auto?.limits ?? .init())
        }
        output.say("auto mode: \(auto?.mode.rawValue ?? "off")")
    }
}
