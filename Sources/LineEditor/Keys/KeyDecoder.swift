/// A key that was pressed, or a paste.
enum Key: Sendable, Hashable {
    case text(Unicode.Scalar)
    /// A bracketed paste, without control characters.
    case paste(String)
    /// A control key, by its character in lower case: `a` is Ctrl-A, `_` is Ctrl-Underscore.
    case control(Unicode.Scalar)
    /// A key with Alt, or after Escape.
    case meta(Unicode.Scalar)
    case up, down, left, right, home, end, delete, backspace
    case wordLeft, wordRight
    /// Backspace with Alt.
    case wordBackspace
    case enter
    /// Enter with Alt or Shift.
    case lineBreak
    case tab
    case escape
}

/// Turns the bytes of a terminal into keys. Sources: ECMA-48 section 5.4 (control sequences), xterm's ctlseqs.
struct KeyDecoder: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case ground
        case escape
        /// After `ESC [`, with the parameters so far.
        case control([UInt8])
        /// After `ESC O`.
        case single([UInt8])
        /// One byte more belongs to a key of the Linux console (`ESC [ [ A`).
        case console
        /// OSC, DCS, SOS, PM or APC, up to its end.
        case string(endsWithBell: Bool, sawEscape: Bool)
        case paste
    }

    /// Longer parameters are no key's; the rest is swallowed.
    private static let mostParameters = 32
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private var state = State.ground
    private var characters = UTF8Decoder()
    private var pasted: [UInt8] = []
    /// Whether nothing came for a while within a paste: its end may be lost.
    private var isPasteStale = false

    init() {}

    /// How long to wait for the next byte before ``endWait()``; nil to wait without limit.
    var limit: Duration? {
        switch state {
        case .ground: nil
        case .paste: isPasteStale ? nil : .seconds(1)
        case .escape: .milliseconds(80)
        case .control, .single, .console: .milliseconds(200)
        case .string: .milliseconds(500)
        }
    }

    /// The time limit is over: a lone escape byte is the Escape key, and an unfinished sequence is dropped. A paste
    /// goes on, but for Ctrl-C.
    mutating func endWait() -> Key? {
        isPasteStale = state == .paste
        defer { if state != .paste { state = .ground } }
        return state == .escape ? .escape : nil
    }

    /// Takes bytes from the front until there is a key.
    ///
    /// - Returns: nil if the bytes are used up.
    mutating func next(_ bytes: inout ArraySlice<UInt8>) -> [Key] {
        while let byte = bytes.first {
            if state == .paste {
                takePasted(&bytes)
                guard state != .paste else { continue }
                let text = PlainText.of(pasted)
                pasted = []
                if !text.isEmpty { return [.paste(text)] }
                continue
            }
            bytes.removeFirst()
            var keys: [Key] = []
            take(byte) { keys.append($0) }
            if !keys.isEmpty { return keys }
        }
        return []
    }

    private mutating func takePasted(_ bytes: inout ArraySlice<UInt8>) {
        if isPasteStale {
            isPasteStale = false
            // The end of the paste was lost: the user wants the line back.
            if bytes.first == 0x03 {
                (state, pasted) = (.ground, [])
                return
            }
        }
        guard let last = bytes.firstIndex(of: Self.pasteEnd[5]) else {
            pasted += bytes
            bytes = []
            return
        }
        pasted += bytes[...last]
        bytes = bytes[(last + 1)...]
        guard pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) else { return }
        pasted.removeLast(Self.pasteEnd.count)
        state = .ground
    }

    private mutating func take(_ byte: UInt8, _ emit: (Key) -> Void) {
        // CAN and SUB end any sequence. ESC begins another, except where it may be the end of a string.
        if byte == 0x18 || byte == 0x1A, state != .ground, state != .escape {
            state = .ground
            return
        }
        switch state {
        case .ground, .paste: ground(byte, emit)
        case .escape: escape(byte, emit)
        case .control(let parameters): control(byte, parameters: parameters, emit)
        case .single(let parameters): single(byte, parameters: parameters, emit)
        case .console: abort(unless: byte >= 0x20, byte: byte, emit)
        case .string(let endsWithBell, let sawEscape):
            string(byte, endsWithBell: endsWithBell, sawEscape: sawEscape, emit)
        }
    }

    private mutating func ground(_ byte: UInt8, _ emit: (Key) -> Void) {
        guard byte < 0x20 || byte == 0x7F else {
            return characters.take(byte) { scalar in
                // C1 control characters, as UTF-8.
                if !(0x80...0x9F).contains(scalar.value) { emit(.text(scalar)) }
            }
        }
        if characters.reset() { emit(.text("\u{FFFD}")) }
        switch byte {
        case 0x1B: state = .escape
        case 0x7F, 0x08: emit(.backspace)
        case 0x09: emit(.tab)
        case 0x0A: emit(.lineBreak)
        case 0x0D: emit(.enter)
        case 0x00: emit(.control("@"))
        case 0x01...0x1A: emit(.control(Unicode.Scalar(byte + 0x60)))
        default: emit(.control(Unicode.Scalar(byte + 0x40)))
        }
    }

    private mutating func escape(_ byte: UInt8, _ emit: (Key) -> Void) {
        state = .ground
        switch byte {
        case 0x1B: state = .escape
        case UInt8(ascii: "["): state = .control([])
        case UInt8(ascii: "O"): state = .single([])
        case UInt8(ascii: "]"): state = .string(endsWithBell: true, sawEscape: false)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            state = .string(endsWithBell: false, sawEscape: false)
        case 0x0D, 0x0A: emit(.lineBreak)
        case 0x7F, 0x08: emit(.wordBackspace)
        case 0x20...0x7E: emit(.meta(Unicode.Scalar(byte)))
        default: ground(byte, emit)
        }
    }

    /// Ends a sequence. A byte that cannot belong to it counts by itself.
    private mutating func abort(unless belongs: Bool, byte: UInt8, _ emit: (Key) -> Void) {
        state = .ground
        if !belongs { ground(byte, emit) }
    }

    private mutating func control(_ byte: UInt8, parameters: [UInt8], _ emit: (Key) -> Void) {
        switch byte {
        case 0x20...0x3F:
            if parameters.count < Self.mostParameters { state = .control(parameters + [byte]) }
        case UInt8(ascii: "[") where parameters.isEmpty: state = .console
        case 0x40...0x7E:
            state = .ground
            if byte == UInt8(ascii: "~"), parameters.elementsEqual("200".utf8) {
                state = .paste
            } else if let key = Self.key(byte, parameters: parameters) {
                emit(key)
            }
        default: abort(unless: false, byte: byte, emit)
        }
    }

    private mutating func single(_ byte: UInt8, parameters: [UInt8], _ emit: (Key) -> Void) {
        switch byte {
        case 0x30...0x3B: if parameters.count < Self.mostParameters { state = .single(parameters + [byte]) }
        case 0x20...0x7E:
            state = .ground
            if byte == UInt8(ascii: "M") { return emit(.enter) }
            // rxvt: Ctrl with an arrow.
            let ctrl: Key? = byte == UInt8(ascii: "c") ? .wordRight : byte == UInt8(ascii: "d") ? .wordLeft : nil
            if let key = ctrl ?? Self.key(byte, parameters: parameters) { emit(key) }
        default: abort(unless: false, byte: byte, emit)
        }
    }

    private mutating func string(_ byte: UInt8, endsWithBell: Bool, sawEscape: Bool, _ emit: (Key) -> Void) {
        if sawEscape {
            state = .ground
            // `ESC \` is the end; another escape sequence ends the string too.
            if byte != UInt8(ascii: "\\") { escape(byte, emit) }
        } else if byte == 0x1B {
            state = .string(endsWithBell: endsWithBell, sawEscape: true)
        } else if byte == 0x07, endsWithBell {
            state = .ground
        } else if byte == 0x03 {
            // Ctrl-C always counts.
            abort(unless: false, byte: byte, emit)
        }
    }

    /// The key of a sequence `ESC [ parameters byte` or `ESC O parameters byte`.
    private static func key(_ byte: UInt8, parameters: [UInt8]) -> Key? {
        let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
        let modifier = numbers.count > 1 ? numbers[1] : numbers.count == 1 && byte != UInt8(ascii: "~") ? numbers[0] : 0
        // xterm counts Shift 1, Alt 2, Ctrl 4, and adds 1.
        let byWord = modifier > 1 && (modifier - 1) & 6 != 0
        switch byte {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return byWord ? .wordRight : .right
        case UInt8(ascii: "D"): return byWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "u") where numbers.first == 13: return modifier > 1 ? .lineBreak : .enter
        case UInt8(ascii: "~"):
            switch numbers.first {
            case 1, 7: return .home
            case 4, 8: return .end
            case 3: return .delete
            case 27 where numbers.count == 3 && numbers[2] == 13: return .lineBreak
            default: return nil
            }
        default: return nil
        }
    }
}
