/// Puts calls of tools together from the pieces in which they come.
struct OpenAIToolCalls: Sendable {
    /// The most calls of one answer, and the most bytes of one call's arguments.
    static let (count, size) = (64, 256 << 10)

    struct Delta: Decodable, Sendable {
        struct Function: Decodable, Sendable {
            var name: String?
            var arguments: String?
        }

        var index: Int?
        var id: String?
        var function: Function?
    }

    private var calls: [(index: Int?, call: ProviderToolCall)] = []

    /// - Throws: ``PieceTooLarge``.
    mutating func add(_ delta: Delta) throws {
        let place = place(of: delta)
        if place == calls.endIndex {
            guard calls.count < Self.count else { throw PieceTooLarge() }
            calls.append((delta.index, ProviderToolCall(id: "", name: "", arguments: "")))
        }
        if let id = delta.id, !id.isEmpty { calls[place].call.id = id }
        // Some servers repeat the name in each piece.
        if let name = delta.function?.name, calls[place].call.name.isEmpty { calls[place].call.name = name }
        calls[place].call.arguments += delta.function?.arguments ?? ""
        let call = calls[place].call
        guard call.arguments.utf8.count + call.name.utf8.count + call.id.utf8.count <= Self.size else {
            throw PieceTooLarge()
        }
    }

    /// Where a piece belongs. Some servers number no calls, or all of them 0, but give each an id of its own.
    private func place(of delta: Delta) -> Int {
        let numbered = delta.index.map { index in calls.lastIndex { $0.index == index } } ?? calls.indices.last
        guard let place = numbered else { return calls.endIndex }
        guard let id = delta.id, !id.isEmpty, !calls[place].call.id.isEmpty else { return place }
        return id.utf8.elementsEqual(calls[place].call.id.utf8) ? place : calls.endIndex
    }

    /// The calls that came, each with an id.
    mutating func take() -> [ProviderToolCall] {
        defer { calls = [] }
        return calls.enumerated().map { number, item in
            var call = item.call
            if call.id.isEmpty { call.id = "call_\(number + 1)" }
            return call
        }
    }
}
