/// A regular expression for one line of text, whose matching time is bounded by pattern size times line length.
///
/// Patterns come from the network: an engine that backtracks could be kept busy for hours by a few bytes. Understood:
/// literals, `.`, `[a-z]`, `[^a-z]`, `\d \w \s \D \W \S \b \B`, `^`, `$`, groups, `|`, `*`, `+`, `?`, `{m,n}`.
/// Ungreedy marks are accepted: whether a line matches does not depend on them.
package struct LinePattern: Sendable {
    /// Why a pattern is not understood.
    package struct SyntaxError: Error, Sendable, Hashable {
        package var text: String
    }

    enum Instruction: Sendable {
        case scalar(UInt32)
        case any
        case set([ClosedRange<UInt32>], negated: Bool)
        case split(Int, Int)
        case jump(Int)
        case lineStart
        case lineEnd
        case wordBoundary(Bool)
        case match
    }

    /// Instructions that a pattern may need.
    static let maximumProgram = 2000
    /// Parts that are compiled, repeated ones each time: what is empty adds no instruction, and takes time all the
    /// same.
    static let maximumSteps = 8 * maximumProgram
    /// Units of work between two looks at whether to stop.
    private static let stopInterval = 16 << 10

    private let program: [Instruction]

    /// - Throws: ``SyntaxError``.
    package init(_ pattern: String) throws(SyntaxError) {
        var parser = LinePatternParser(pattern)
        let node = try parser.parse()
        var program: [Instruction] = []
        var steps = 0
        try Self.compile(node, into: &program, steps: &steps)
        program.append(.match)
        self.program = program
    }

    private static func compile(
        _ node: LinePatternNode,
        into program: inout [Instruction],
        steps: inout Int
    ) throws(SyntaxError) {
        steps += 1
        guard program.count < maximumProgram, steps < maximumSteps else {
            throw SyntaxError(text: "the pattern is too large")
        }
        switch node {
        case .instruction(let instruction): program.append(instruction)
        case .sequence(let nodes):
            for node in nodes { try compile(node, into: &program, steps: &steps) }
        case .alternatives(let left, let right):
            let split = program.count
            program.append(.match)
            try compile(left, into: &program, steps: &steps)
            let jump = program.count
            program.append(.match)
            program[split] = .split(split + 1, program.count)
            try compile(right, into: &program, steps: &steps)
            program[jump] = .jump(program.count)
        case .repetition(let node, let least, let most):
            for _ in 0..<least { try compile(node, into: &program, steps: &steps) }
            guard let most else {
                let split = program.count
                program.append(.match)
                try compile(node, into: &program, steps: &steps)
                program.append(.jump(split))
                program[split] = .split(split + 1, program.count)
                return
            }
            for _ in least..<max(most, least) {
                let split = program.count
                program.append(.match)
                try compile(node, into: &program, steps: &steps)
                program[split] = .split(split + 1, program.count)
            }
        }
    }

    /// Whether the pattern matches anywhere in a line.
    package func matches(_ line: [Unicode.Scalar]) -> Bool {
        matches(line) { false } ?? false
    }

    /// Whether the pattern matches anywhere in a line; nil when it was stopped.
    ///
    /// - Parameter isStopped: Asked now and then: one line may take as long as a thousand others.
    package func matches(_ line: [Unicode.Scalar], isStopped: () -> Bool) -> Bool? {
        var work = 0
        var current = ThreadList(capacity: program.count)
        var next = ThreadList(capacity: program.count)
        for position in 0...line.count {
            // A match may begin at every position.
            if add(0, at: position, of: line, to: &current) { return true }
            guard position < line.count else { return false }
            let scalar = line[position].value
            work += program.count
            for index in current.threads {
                work += cost(of: program[index])
                if work >= Self.stopInterval {
                    work = 0
                    if isStopped() { return nil }
                }
                guard accepts(program[index], scalar) else { continue }
                if add(index + 1, at: position + 1, of: line, to: &next) { return true }
            }
            swap(&current, &next)
            next.clear()
        }
        return false
    }

    /// The threads of one position, each at most once.
    private struct ThreadList {
        var threads: [Int] = []
        var seen: [Bool]

        init(capacity: Int) {
            seen = Array(repeating: false, count: capacity)
        }

        mutating func clear() {
            threads.removeAll(keepingCapacity: true)
            for index in seen.indices { seen[index] = false }
        }
    }

    /// Adds a thread and all that it leads to without reading. Returns whether that is a match.
    private func add(_ start: Int, at position: Int, of line: [Unicode.Scalar], to list: inout ThreadList) -> Bool {
        var pending = [start]
        while let index = pending.popLast() {
            guard !list.seen[index] else { continue }
            list.seen[index] = true
            switch program[index] {
            case .match: return true
            case .jump(let target): pending.append(target)
            case .split(let first, let second): pending += [second, first]
            case .lineStart: if position == 0 { pending.append(index + 1) }
            case .lineEnd: if position == line.count { pending.append(index + 1) }
            case .wordBoundary(let wanted):
                let before = position > 0 && Self.isWord(line[position - 1].value)
                let after = position < line.count && Self.isWord(line[position].value)
                if (before != after) == wanted { pending.append(index + 1) }
            case .scalar, .any, .set: list.threads.append(index)
            }
        }
        return false
    }

    private func cost(of instruction: Instruction) -> Int {
        if case .set(let ranges, _) = instruction { ranges.count } else { 1 }
    }

    private func accepts(_ instruction: Instruction, _ scalar: UInt32) -> Bool {
        switch instruction {
        case .scalar(let wanted): scalar == wanted
        case .any: true
        case .set(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
        default: false
        }
    }

    private static func isWord(_ scalar: UInt32) -> Bool {
        LinePatternParser.wordRanges.contains { $0.contains(scalar) }
    }
}
