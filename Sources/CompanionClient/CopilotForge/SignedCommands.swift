/// The signed commands, which only hosts paired by protocol v2 accept.
package struct SignedCommands: Sendable {
    package let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }
}
