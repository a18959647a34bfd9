/// What hosts that were paired by protocol v2 do on a signed command, and no others.
package struct SignedCommands: Sendable {
    package let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }
}
