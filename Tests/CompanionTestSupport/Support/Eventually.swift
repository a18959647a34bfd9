/// Waits for a condition that another process brings about. The suite's time limit ends the wait.
///
/// - Parameter interval: The time between two looks. Longer for a look that costs much.
package func eventually(
    every interval: Duration = .milliseconds(10),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    // A task that only yields would take a processor from the other process.
    while !(try await condition()) { try await Task.sleep(for: interval) }
}
