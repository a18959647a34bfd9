internal import CPCRE2

/// A regular expression of a stranger, in the syntax of ECMAScript as JSON Schema uses it (PCRE2 has all of it that
/// forms need). A search ends after a limited number of steps, whatever the expression and the text are.
struct TextPattern: ~Copyable {
    /// Bytes of an expression.
    private static let mostBytes = 1000
    /// Steps of a whole search, over all places where a match may begin. PCRE2's own limit is for each place.
    private static let mostSteps = 5000
    /// Bytes of a text: a single step may go over all of it.
    private static let mostText = 4 << 10
    /// In KiB.
    private static let mostMemory: UInt32 = 8 << 10

    enum Outcome {
        case found, missing
        /// It was not found out within the limits.
        case unknown
    }

    private let code: OpaquePointer

    /// - Returns: nil for an expression that is malformed, too long, or not of ECMAScript: a step of `\X` has no limit.
    init?(_ expression: String) {
        guard expression.utf8.count <= Self.mostBytes, !expression.has(#"\X"#) else { return nil }
        // As PCRE2's manual has it for ECMAScript; no byte of a character alone.
        let options =
            PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_DOLLAR_ENDONLY
            | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
        var fault: Int32 = 0
        var place = 0
        let units = Array(expression.utf8)
        guard let code = pcre2_compile_8(units, units.count, options, &fault, &place, nil) else { return nil }
        self.code = code
    }

    deinit { pcre2_code_free_8(code) }

    /// Searches a text.
    func search(_ text: String) -> Outcome {
        guard text.utf8.count <= Self.mostText else { return .unknown }
        guard let context = pcre2_match_context_create_8(nil) else { return .unknown }
        defer { pcre2_match_context_free_8(context) }
        pcre2_set_heap_limit_8(context, Self.mostMemory)
        var left = Self.mostSteps
        return withUnsafeMutablePointer(to: &left) { left in
            // Called before each item of the expression.
            pcre2_set_callout_8(
                context,
                { _, left in
                    guard let left = left?.assumingMemoryBound(to: Int.self) else { return PCRE2_ERROR_CALLOUT }
                    left.pointee -= 1
                    return left.pointee > 0 ? 0 : PCRE2_ERROR_CALLOUT
                },
                left
            )
            return search(text, in: context)
        }
    }

    private func search(_ text: String, in context: OpaquePointer) -> Outcome {
        guard let data = pcre2_match_data_create_from_pattern_8(code, nil) else { return .unknown }
        defer { pcre2_match_data_free_8(data) }
        let units = Array(text.utf8)
        let count = pcre2_match_8(code, units, units.count, 0, 0, data, context)
        if count >= 0 { return .found }
        return count == PCRE2_ERROR_NOMATCH ? .missing : .unknown
    }
}
