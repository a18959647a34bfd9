/// Waits for a condition that another process brings about. The suite's time limit ends the wait.
package func eventually(
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    // A task that only yields would take a processor from the other process.
    while !(try await condition()) { try await Task.sleep(for: .milliseconds(10)) }
}
