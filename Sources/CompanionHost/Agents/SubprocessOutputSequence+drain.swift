import Logging
import Subprocess

extension SubprocessOutputSequence {
    /// Reads what a process writes, until it ends. That it breaks off is logged: as a warning, unless the task was
    /// cancelled, which ends the process.
    func drain(_ name: String, _ logger: Logger, _ body: (UnsafeRawBufferPointer) -> Void) async {
        do {
            for try await buffer in self { buffer.withUnsafeBytes { body($0) } }
        } catch {
            logger.log(level: Task.isCancelled ? .debug : .warning, "\(name) broke off", metadata: .failure(error))
        }
    }
}
