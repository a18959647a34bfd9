import CompanionWire

/// Puts calls of tools together from the pieces in which they come.
struct OpenAIToolCalls: Sendable {
    /// The most calls of one answer, and the most bytes of one call's arguments.
    static let (count, size) = (64, 256 << 10)

    private var calls: [(index: Int?, call: ProviderToolCall)] = []

    /// - Throws: ``PieceTooLarge``; ``UnknownPiece``.
    mutating func add(_ delta: JSONValue) throws {
        let function = delta["function"] ?? .null
        guard delta.isObject, function.isObject || function == .null else { throw UnknownPiece() }
        let index = delta["index"]?.count
        let id = delta["id"]?.word ?? ""
        let place = place(of: id, index: index)
        if place == calls.endIndex {
            guard calls.count < Self.count else { throw PieceTooLarge() }
            calls.append((index, ProviderToolCall(id: "", name: "", arguments: "")))
        }
        if !id.isEmpty { calls[place].call.id = id }
        // Some servers repeat the name in each piece.
        if let name = function["name"]?.string, calls[place].call.name.isEmpty { calls[place].call.name = name }
        calls[place].call.arguments += Self.arguments(function["arguments"])
        let call = calls[place].call
        guard call.arguments.utf8.count + call.name.utf8.count + call.id.utf8.count <= Self.size else {
            throw PieceTooLarge()
        }
    }

    /// Returns the index of the call that a piece belongs to; `calls.endIndex` for a new one. Some servers number no
    /// calls, or all of them 0, but give each an id of its own.
    private func place(of id: String, index: Int?) -> Int {
        let numbered = index.map { index in calls.lastIndex { $0.index == index } } ?? calls.indices.last
        guard let place = numbered else { return calls.endIndex }
        guard !id.isEmpty, !calls[place].call.id.isEmpty else { return place }
        return id.utf8.elementsEqual(calls[place].call.id.utf8) ? place : calls.endIndex
    }

    /// Some servers send an object instead of its JSON as text.
    private static func arguments(_ value: JSONValue?) -> String {
        guard let value, value != .null else { return "" }
        return value.string ?? String(decoding: value.json, as: UTF8.self)
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
