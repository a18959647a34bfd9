/// Ends a command with a status after it has said all there is to say.
package struct ExitRequest: Error {
    package var status: ExitStatus

    package init(status: ExitStatus) {
        self.status = status
    }
}
