/// Waits until its task is cancelled, as for a person who does not answer.
func waitUntilCancelled() async {
    let (end, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in end {}
    continuation.finish()
}
