import CompanionWire
import Desktop
import LocalState
import PairingAgent

/// Reads pictures that are saved to a directory, each as soon as it is complete.
package struct PictureWatch: Sendable {
    package let directory: String
    /// Whether to read the existing pictures too.
    let existing: Bool
    let environment: AppEnvironment

    package init(directory: String, existing: Bool, environment: AppEnvironment) {
        self.directory = directory
        self.existing = existing
        self.environment = environment
    }

    /// Watches until it is cancelled or the directory is deleted.
    ///
    /// - Parameters:
    ///   - ready: Called once every picture that is saved from now on will be found.
    ///   - take: Gets the findings, one at a time. Returns whether to continue.
    /// - Throws: ``DesktopError``.
    package func run(ready: () -> Void, _ take: (CodeEvent) async throws -> Bool) async throws {
        try await DirectoryWatch.withEvents(of: directory, existing: existing) { events in
            ready()
            // A picture that seems damaged may be incomplete: its error is reported only once the file no longer
            // changes.
            var doubtful: [String: AppError] = [:]
            for try await event in events {
                switch event {
                case .complete(let name):
                    doubtful[name] = nil
                    do {
                        guard let contents = try await read(name) else { continue }
                        guard try await take(.codes(contents, in: path(name))) else { return }
                    } catch let error as AppError where error.code.begins(with: "image.") {
                        doubtful[name] = error
                    } catch let error as AppError {
                        guard try await take(.failure(error)) else { return }
                    }
                case .quiet(let name):
                    guard let error = doubtful.removeValue(forKey: name) else { continue }
                    guard try await take(.failure(error)) else { return }
                }
            }
        }
        try Task.checkCancellation()
    }

    /// Waits for the first picture with a code that can be used.
    ///
    /// - Throws: ``DesktopError``; `CancellationError` when the user has enough of waiting.
    package func firstSymbol() async throws -> PairingSymbol {
        let interaction = environment.interaction
        var found: PairingSymbol?
        let announce = {
            interaction.say("Waiting for a picture of the code in \(TerminalText.line(directory)).")
        }
        try await run(ready: announce) { event in
            do {
                switch event {
                case .codes(let contents, let place): found = try PairingPicture.symbol(of: contents, in: place)
                case .failure(let error): throw error
                }
            } catch let error as AppError {
                interaction.warn(error)
            }
            return found == nil
        }
        guard let found else { throw CancellationError() }
        return found
    }

    private func path(_ name: String) -> String {
        directory.ends(with: "/") ? directory + name : "\(directory)/\(name)"
    }

    /// - Returns: nil if it is not a regular file, or no longer exists.
    private func read(_ name: String) async throws -> [FoundCode]? {
        // Reading a pipe would block the watch.
        guard FileStatus(path(name))?.kind == .file else { return nil }
        return try await PairingPicture.read(path(name), environment: environment)
    }
}
