/// Ends a command with a status after it has said all there is to say.
struct ExitRequest: Error {
    var status: ExitStatus
}
