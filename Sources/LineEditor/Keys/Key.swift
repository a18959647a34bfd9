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
