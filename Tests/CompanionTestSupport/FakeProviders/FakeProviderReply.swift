/// The reply of a fake provider to a prompt, whatever its format is.
package enum FakeProviderReply: Sendable {
    /// An answer in pieces, whole.
    case answer([String])
    /// The same, one byte at a time: characters and frames come in parts.
    case drip([String])
    /// Pieces, a gate to wait at, and more pieces.
    case held([String], gate: String, [String])
    /// Pieces, and then the connection ends in mid-answer: in order, or by a reset.
    case cut([String], isReset: Bool)
    /// Pieces, and then a body that ends as it should, without the end of the answer.
    case unfinished([String])
    /// Pieces, and then an error in the stream, as the provider words it.
    case failing([String], FakeProviderFault)
    /// Pieces, and then the end because of the limit of tokens.
    case limited([String])
    /// Nothing, because of a filter.
    case blocked
    /// Nothing at all, until the gate opens.
    case silence(gate: String)
    /// Another status than 200.
    case status(Int, headers: [(name: String, value: String)], body: String)
    /// A fault's own status and body.
    case fault(FakeProviderFault)
    /// These bytes as the whole stream.
    case stream(String)
    /// These bytes again and again, without an end.
    case endless(String)
    /// These bytes instead of HTTP.
    case bytes(String)
}

/// The reasons for which providers refuse a prompt.
package enum FakeProviderFault: Sendable, CaseIterable {
    case key, forbidden, model, rate, server, overloaded

    /// The status with which most providers answer.
    package var status: Int {
        switch self {
        case .key: 401
        case .forbidden: 403
        case .model: 404
        case .rate: 429
        case .server: 500
        case .overloaded: 503
        }
    }
}
