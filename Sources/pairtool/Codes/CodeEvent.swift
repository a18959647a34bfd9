import CompanionWire

/// What a place where codes show up has brought.
enum CodeEvent: Sendable {
    /// What the codes of a picture hold.
    case codes([QRContent], in: String)
    /// There was something that could not be read, or that is no picture of a code.
    case failure(CommandError)
}
