/// A line that is being typed: takes bytes and returns what to do. It does no input or output.
struct LineState: Sendable {
    enum Action: Sendable, Hashable {
        /// Enter: the text is to be used.
        case accept(String)
        /// Ctrl-C: the text was dropped.
        ///
        /// - Parameter wasEmpty: Whether there was no text.
        case drop(wasEmpty: Bool)
        /// Ctrl-D on an empty line.
        case end
        case complete(CompletionRequest)
        /// Ctrl-X Ctrl-E: the text is to be changed in an editor. ``replace(_:)`` takes the result.
        case edit(String)
        /// Ctrl-L.
        case clearScreen
        /// Ctrl-Z.
        case suspend
        case bell
    }

    /// Which changes can be undone in one step.
    private enum ChangeKind { case typing, erasing, other }

    private static let mostUndone = 100

    var buffer = LineBuffer()
    /// Lines below the text: the candidates of a completion.
    private(set) var candidates: [String] = []
    var history: PromptHistory
    private(set) var search: HistorySearch?

    private var decoder = KeyDecoder()
    private var keys: [Key] = []
    private var undone: [LineBuffer] = []
    private var lastChange: ChangeKind?
    private var killed: [LineBuffer.Cell] = []
    private var lastKeyKilled = false
    private var isAfterControlX = false
    private var requests = 0
    /// Whether the text was accepted or dropped. It stays until ``begin()``, to be shown for the last time.
    private var isOver = false

    /// - Parameter history: Earlier lines, oldest first.
    init(history: [String] = []) {
        self.history = PromptHistory(history)
    }

    /// Begins the next line, if one is over.
    mutating func begin() {
        guard isOver else { return }
        (buffer, undone, lastChange, isOver) = (LineBuffer(), [], nil, false)
        (lastKeyKilled, isAfterControlX) = (false, false)
        history.restart()
    }

    /// How long to wait for the next byte before ``endWait()``; nil to wait without limit.
    var limit: Duration? { decoder.limit }

    mutating func endWait() -> Action? {
        decoder.endWait().flatMap { press($0) }
    }

    /// Takes bytes from the front, until there is something to do.
    ///
    /// - Returns: nil if the bytes are used up.
    mutating func take(_ bytes: inout ArraySlice<UInt8>) -> Action? {
        while true {
            if keys.isEmpty { keys = decoder.next(&bytes) }
            guard !keys.isEmpty else { return nil }
            if let action = press(keys.removeFirst()) { return action }
        }
    }

    /// Replaces the whole text, such as by what came from an editor.
    mutating func replace(_ text: String) {
        begin()
        change(.other) { $0 = LineBuffer(PlainText.of(text)) }
    }

    /// Adds a line to the history. Line feeds stay, other control characters go.
    mutating func remember(_ line: String) {
        history.add(PlainText.of(line))
    }

    /// Takes the answer to a request. It is ignored if something was typed since.
    mutating func complete(_ request: CompletionRequest, with completion: Completion) -> Action? {
        guard request.number == requests, buffer.beforeCursor.utf8.elementsEqual(request.text.utf8) else { return nil }
        let common = completion.commonPrefix
        guard !completion.candidates.isEmpty,
            request.text.utf8.suffix(completion.word.utf8.count)
                .elementsEqual(completion.word.utf8)
        else { return .bell }
        if !common.utf8.elementsEqual(completion.word.utf8), common.utf8.count >= completion.word.utf8.count {
            let count = completion.word.count
            change(.other) {
                $0.remove(to: max($0.lineStart, $0.cursor - count))
                $0.insert(PlainText.of(common))
            }
        } else if completion.candidates.count > 1 {
            candidates = completion.candidates
        }
        return completion.candidates.count > 1 && candidates.isEmpty ? .bell : nil
    }

    // MARK: Keys

    private mutating func press(_ key: Key) -> Action? {
        begin()
        requests += 1
        candidates = []
        if let search { return press(key, searching: search) }
        if isAfterControlX {
            isAfterControlX = false
            switch key {
            case .control("e"): return .edit(buffer.text)
            case .control("u"): return undo()
            default: return .bell
            }
        }
        let wasKilling = lastKeyKilled
        lastKeyKilled = false
        switch key {
        case .text(let scalar): change(.typing) { $0.insert(String(scalar)) }
        case .paste(let text): change(.other) { $0.paste(text) }
        case .lineBreak: change(.other) { $0.insert("\n") }
        case .enter: return enter()
        case .tab:
            let request = CompletionRequest(number: requests, text: buffer.beforeCursor)
            return .complete(request)
        case .backspace: return erase(to: buffer.cursor - 1)
        case .delete: return erase(to: buffer.cursor + 1)
        case .left, .control("b"): move(to: buffer.cursor - 1)
        case .right, .control("f"): move(to: buffer.cursor + 1)
        case .home, .control("a"): move(to: buffer.lineStart)
        case .end, .control("e"): move(to: buffer.lineEnd)
        case .wordLeft, .meta("b"): move(to: buffer.wordStart)
        case .wordRight, .meta("f"): move(to: buffer.wordEnd)
        case .up, .control("p"): return vertical(-1)
        case .down, .control("n"): return vertical(1)
        case .control("d"):
            return buffer.isEmpty ? .end : erase(to: buffer.cursor + 1)
        case .control("k"):
            return kill(
                to: buffer.lineEnd == buffer.cursor ? buffer.cursor + 1 : buffer.lineEnd,
                wasKilling: wasKilling
            )
        case .control("u"): return kill(to: buffer.lineStart, wasKilling: wasKilling)
        case .control("w"): return kill(to: buffer.blankWordStart, wasKilling: wasKilling)
        case .meta("d"): return kill(to: buffer.wordEnd, wasKilling: wasKilling)
        case .wordBackspace: return kill(to: buffer.wordStart, wasKilling: wasKilling)
        case .control("y"):
            guard !killed.isEmpty else { return .bell }
            let cells = killed
            change(.other) { $0.insert(cells) }
        case .control("t"):
            var changed = buffer
            guard changed.transpose() else { return .bell }
            change(.other) { $0 = changed }
        case .control("_"): return undo()
        case .control("r"), .control("s"): search = HistorySearch(from: buffer, in: history)
        case .control("l"): return .clearScreen
        case .control("z"): return .suspend
        case .control("x"): isAfterControlX = true
        case .control("c"): return drop()
        case .control("g"): return .bell
        case .control, .meta, .escape: break
        }
        return nil
    }

    private mutating func enter() -> Action? {
        // A backslash at the end continues the line; two are text.
        if buffer.trailingBackslashes % 2 == 1 {
            change(.other) {
                $0.move(to: $0.position.count)
                $0.remove(to: $0.cursor - 1)
                $0.insert("\n")
            }
            return nil
        }
        isOver = true
        return .accept(buffer.text)
    }

    private mutating func drop() -> Action {
        isOver = true
        search = nil
        return .drop(wasEmpty: buffer.isEmpty)
    }

    private mutating func vertical(_ lines: Int) -> Action? {
        if let place = buffer.place(linesDown: lines) {
            move(to: place)
            return nil
        }
        guard let line = history.step(older: -lines, from: buffer) else { return .bell }
        change(.other) { $0 = line }
        return nil
    }

    // MARK: Search

    private mutating func press(_ key: Key, searching old: HistorySearch) -> Action? {
        var search = old
        switch key {
        case .text(let scalar): search.change(search.query + String(scalar), in: history.lines)
        case .paste(let text): search.change(search.query + text.prefix(200), in: history.lines)
        case .backspace: search.change(String(search.query.dropLast()), in: history.lines)
        case .control("r"): search.again(older: true, in: history.lines)
        case .control("s"): search.again(older: false, in: history.lines)
        case .control("g"):
            self.search = nil
            (buffer, history) = search.original
            return nil
        case .control("c"): return drop()
        default:
            self.search = nil
            return key == .escape ? nil : press(key)
        }
        self.search = search
        if let match = search.match, let line = history.show(match, from: search.original.line) {
            change(.other) { $0 = line }
        } else if !search.query.isEmpty {
            return .bell
        }
        return nil
    }

    // MARK: Changes

    private mutating func move(to place: Int) {
        buffer.move(to: place)
        lastChange = nil
    }

    private mutating func change(_ kind: ChangeKind, _ body: (inout LineBuffer) -> Void) {
        if kind == .other || kind != lastChange {
            undone.append(buffer)
            if undone.count > Self.mostUndone { undone.removeFirst() }
        }
        lastChange = kind
        body(&buffer)
    }

    private mutating func undo() -> Action? {
        guard let last = undone.popLast() else { return .bell }
        buffer = last
        lastChange = nil
        return nil
    }

    private mutating func erase(to place: Int) -> Action? {
        guard (0...buffer.position.count).contains(place) else { return .bell }
        change(.erasing) { $0.remove(to: place) }
        return nil
    }

    /// Removes text for Ctrl-Y. What is removed by several keys in a row comes back as one.
    private mutating func kill(to place: Int, wasKilling: Bool) -> Action? {
        let place = min(place, buffer.position.count)
        guard place != buffer.cursor else { return .bell }
        let isForward = place > buffer.cursor
        var cells: [LineBuffer.Cell] = []
        change(.other) { cells = $0.remove(to: place) }
        killed = !wasKilling ? cells : isForward ? killed + cells : cells + killed
        lastKeyKilled = true
        return nil
    }
}
