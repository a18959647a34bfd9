/// Ends a command with a status, without another message.
struct ExitRequest: Error {
    var status: ExitStatus
}
