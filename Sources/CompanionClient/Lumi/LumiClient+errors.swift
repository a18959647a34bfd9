import CompanionWire

extension CompanionClientError {
    /// How a connection ended while an answer was waited for.
    static func lumi(_ end: LumiInbox.End, endpoint: CompanionEndpoint) -> any Error {
        switch end {
        case .closed:
            CompanionClientError(
                .unreachable,
                message: "\(endpoint) closed the connection before it answered.",
                delivery: .unknown
            )
        case .oversize(_, isFirst: true), .unreadable(isFirst: true):
            CompanionClientError(.notACompanion, message: "The server on \(endpoint) is not a Lumi host.")
        case .oversize(let frame, isFirst: false):
            CompanionClientError(
                .tooLarge,
                message: "\(endpoint) announced an answer of \(frame.length) bytes; the limit is 8 MiB."
            )
        case .unreadable(isFirst: false):
            CompanionClientError(.badAnswer, message: "\(endpoint) sent an invalid answer.")
        case .failed(let error):
            transport(error, endpoint: endpoint, answered: false, timeouts: .init())
        }
    }

    /// The error for a command that a host has not carried out.
    static func lumi(refusal answer: LumiAnswer, endpoint: CompanionEndpoint) -> CompanionClientError {
        let text = answer.error ?? answer.result
        if text.begins(with: "Unknown command") {
            return CompanionClientError(
                .unsupportedVersion,
                message: "\(endpoint) does not know that command: the app there is another version.",
                hostText: text
            )
        }
        return CompanionClientError(.hostError, message: "\(endpoint) could not do that.", hostText: text)
    }
}
