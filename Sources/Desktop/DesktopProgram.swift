import Subprocess

/// A program of the desktop that is asked for something, such as the clipboard.
struct DesktopProgram: Sendable {
    struct Answer: Sendable {
        var isSuccess: Bool
        var output: [UInt8]
        /// The first line of its complaints; nil if it has none.
        var complaint: String?
    }

    var name: String
    /// The Debian package that it comes in.
    var package: String
    /// The thing that it is asked for, such as `the clipboard`.
    var subject: String
    /// It may wait for somebody.
    var patience: Duration

    /// - Parameters:
    ///   - environment: The program gets all of it.
    ///   - limit: Bytes of its output.
    /// - Throws: ``DesktopError`` with the code `noProgram`, `tooLarge` or `failed`; `CancellationError`.
    func run(_ arguments: [String], environment: [String: String], limit: Int) async throws -> Answer {
        var variables: [Environment.Key: String] = [:]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        let settings = Environment.custom(variables)
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                do {
                    let result = try await Subprocess.run(
                        .name(name),
                        arguments: Arguments(arguments),
                        environment: settings,
                        output: .bytes(limit: limit),
                        error: .string(limit: 64 << 10)
                    )
                    return Answer(
                        isSuccess: result.terminationStatus.isSuccess,
                        output: result.standardOutput,
                        complaint: result.standardError.split(separator: "\n").first.map(String.init)
                    )
                } catch let error as SubprocessError where error.code == .executableNotFound {
                    throw DesktopError(
                        .noProgram,
                        message: "\(subject) is read by \(name), which is not installed",
                        remedy: "sudo apt install \(package)"
                    )
                } catch let error as SubprocessError where error.code == .outputLimitExceeded {
                    throw DesktopError(.tooLarge, message: "\(subject) has more than the \(limit) bytes that are read")
                } catch {
                    try Task.checkCancellation()
                    throw DesktopError(.failed, message: "\(name) could not be run to its end: \(error)")
                }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else {
                throw DesktopError(.failed, message: "\(name) gives no answer in time")
            }
            return answer
        }
    }
}
