import Dispatch
import LocalState
import Testing

@Suite struct BlockingCallTests {
    @Test("Calls that all block do not keep each other from beginning")
    func begin() async throws {
        let count = 64
        let (arrived, isComplete) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let met = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await BlockingCall.run {
                        arrived.signal()
                        return isComplete.wait(timeout: .now() + .seconds(10)) == .success
                    }
                }
            }
            group.addTask {
                try await BlockingCall.run {
                    for _ in 0..<count { arrived.wait() }
                    for _ in 0..<count { isComplete.signal() }
                    return true
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(met == count + 1, "each of them began before the first one gave up")
    }
}
