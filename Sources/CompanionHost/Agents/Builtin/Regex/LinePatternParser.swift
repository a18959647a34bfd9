import CompanionWire

/// The parts of a pattern.
indirect enum LinePatternNode {
    case instruction(LinePattern.Instruction)
    case sequence([LinePatternNode])
    case alternatives(LinePatternNode, LinePatternNode)
    /// `most` is nil without an upper bound.
    case repetition(LinePatternNode, least: Int, most: Int?)
}

/// Reads a pattern by recursive descent; nesting and repetition are bounded.
struct LinePatternParser {
    typealias SyntaxError = LinePattern.SyntaxError

    static let maximumDepth = 20
    static let maximumRepetition = 200
    static let digitRanges: [ClosedRange<UInt32>] = [0x30...0x39]
    static let wordRanges: [ClosedRange<UInt32>] = [
        0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a, 0xaa...0x10ffff,
    ]
    static let spaceRanges: [ClosedRange<UInt32>] = [0x09...0x0d, 0x20...0x20, 0xa0...0xa0]

    private var rest: ArraySlice<Unicode.Scalar>
    private var depth = 0

    init(_ pattern: String) {
        rest = Array(pattern.unicodeScalars.prefix(1000))[...]
    }

    mutating func parse() throws(SyntaxError) -> LinePatternNode {
        let node = try alternatives()
        guard rest.isEmpty else { throw SyntaxError(text: "a `)` without `(`") }
        return node
    }

    private mutating func alternatives() throws(SyntaxError) -> LinePatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw SyntaxError(text: "groups are nested too deeply") }
        var node = try sequence()
        while rest.first == "|" {
            rest.removeFirst()
            node = .alternatives(node, try sequence())
        }
        return node
    }

    private mutating func sequence() throws(SyntaxError) -> LinePatternNode {
        var nodes: [LinePatternNode] = []
        while let scalar = rest.first, scalar != "|", scalar != ")" {
            nodes.append(try repetition(of: atom()))
        }
        return .sequence(nodes)
    }

    private mutating func repetition(of atom: LinePatternNode) throws(SyntaxError) -> LinePatternNode {
        var node = atom
        while let mark = rest.first {
            switch mark {
            case "*": node = .repetition(node, least: 0, most: nil)
            case "+": node = .repetition(node, least: 1, most: nil)
            case "?": node = .repetition(node, least: 0, most: 1)
            case "{":
                guard let (least, most) = try bounds() else { return node }
                node = .repetition(node, least: least, most: most)
            default: return node
            }
            rest.removeFirst()
            if rest.first == "?" { rest.removeFirst() }
        }
        return node
    }

    /// Reads `{m}`, `{m,}` or `{m,n}` up to its last brace; nil when the brace is a literal.
    private mutating func bounds() throws(SyntaxError) -> (least: Int, most: Int?)? {
        guard let end = rest.firstIndex(of: "}") else { return nil }
        let text = String(String.UnicodeScalarView(rest[rest.index(after: rest.startIndex)..<end]))
        let parts = text.parts(",", omittingEmpty: false)
        guard let least = parts.first.flatMap({ Int($0) }), least >= 0, parts.count <= 2 else { return nil }
        let most: Int? = parts.count == 1 ? least : parts[1].isEmpty ? nil : Int(parts[1])
        guard parts.count == 1 || parts[1].isEmpty || most != nil else { return nil }
        guard least <= Self.maximumRepetition, most ?? least <= Self.maximumRepetition, most ?? least >= least else {
            throw SyntaxError(text: "`{\(text)}` is out of range")
        }
        rest = rest[end...]
        return (least, most)
    }

    private mutating func atom() throws(SyntaxError) -> LinePatternNode {
        let scalar = rest.removeFirst()
        switch scalar {
        case ".": return .instruction(.any)
        case "^": return .instruction(.lineStart)
        case "$": return .instruction(.lineEnd)
        case "[": return try set()
        case "\\": return try escape()
        case "*", "+", "?": throw SyntaxError(text: "`\(scalar)` has nothing to repeat")
        case "(":
            if rest.first == "?" {
                guard rest.dropFirst().first == ":" else { throw SyntaxError(text: "`(?` is not understood") }
                rest = rest.dropFirst(2)
            }
            let node = try alternatives()
            guard rest.popFirst() == ")" else { throw SyntaxError(text: "a `(` without `)`") }
            return node
        default: return .instruction(.scalar(scalar.value))
        }
    }

    private mutating func escape() throws(SyntaxError) -> LinePatternNode {
        guard let scalar = rest.popFirst() else { throw SyntaxError(text: "a `\\` at the end") }
        if scalar == "b" || scalar == "B" { return .instruction(.wordBoundary(scalar == "b")) }
        if let ranges = Self.ranges(ofClass: scalar) {
            return .instruction(.set(ranges, negated: "DWS".unicodeScalars.contains(scalar)))
        }
        return .instruction(.scalar(try Self.literal(escaped: scalar)))
    }

    private mutating func set() throws(SyntaxError) -> LinePatternNode {
        var ranges: [ClosedRange<UInt32>] = []
        let negated = rest.first == "^"
        if negated { rest.removeFirst() }
        var isFirst = true
        while let scalar = rest.popFirst() {
            if scalar == "]", !isFirst { return .instruction(.set(ranges, negated: negated)) }
            isFirst = false
            var low = scalar.value
            if scalar == "\\" {
                guard let escaped = rest.popFirst() else { break }
                if let more = Self.ranges(ofClass: escaped), !"DWS".unicodeScalars.contains(escaped) {
                    ranges += more
                    continue
                }
                low = try Self.literal(escaped: escaped)
            }
            guard rest.first == "-", let end = rest.dropFirst().first, end != "]" else {
                ranges.append(low...low)
                continue
            }
            rest = rest.dropFirst(2)
            guard end != "\\", end.value >= low else { throw SyntaxError(text: "a range in `[]` is reversed") }
            ranges.append(low...end.value)
        }
        throw SyntaxError(text: "a `[` without `]`")
    }

    private static func ranges(ofClass scalar: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        switch scalar {
        case "d", "D": digitRanges
        case "w", "W": wordRanges
        case "s", "S": spaceRanges
        default: nil
        }
    }

    private static func literal(escaped scalar: Unicode.Scalar) throws(SyntaxError) -> UInt32 {
        switch scalar {
        case "t": return 0x09
        case "n": return 0x0a
        case "r": return 0x0d
        case let other where other.properties.isAlphabetic || ("0"..."9").contains(other):
            throw SyntaxError(text: "`\\\(other)` is not understood")
        default: return scalar.value
        }
    }
}
