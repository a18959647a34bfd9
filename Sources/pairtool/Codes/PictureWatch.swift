import CompanionWire
import Desktop
import PairingAgent

/// Reads the pictures that are saved in a directory, each as soon as it is complete.
struct PictureWatch: Sendable {
    let directory: String
    /// Whether pictures that are already there are read too.
    let existing: Bool
    let context: CommandContext

    /// Watches until it is cancelled or the directory is gone.
    ///
    /// - Parameters:
    ///   - ready: Called when nothing that is saved from now on escapes.
    ///   - take: Gets what was found, one after the other; says whether to go on.
    /// - Throws: ``DesktopError``.
    func run(ready: () -> Void, _ take: (CodeEvent) async throws -> Bool) async throws {
        try await DirectoryWatch.withEvents(of: directory, existing: existing) { events in
            ready()
            // A file that seems to be damaged may only not be finished: it has until nothing happens to it any more.
            var doubtful: [String: CommandError] = [:]
            for try await event in events {
                switch event {
                case .complete(let name):
                    doubtful[name] = nil
                    do {
                        guard let contents = try await read(name) else { continue }
                        guard try await take(.codes(contents, in: path(name))) else { return }
                    } catch let error as CommandError where error.code.begins(with: "image.") {
                        doubtful[name] = error
                    } catch let error as CommandError {
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

    private func path(_ name: String) -> String {
        directory.ends(with: "/") ? directory + name : "\(directory)/\(name)"
    }

    /// - Returns: nil if it is not a file, or no longer exists.
    private func read(_ name: String) async throws -> [QRContent]? {
        // A pipe would hold everything up.
        guard PrivateFile.isRegularFile(path(name)) == true else { return nil }
        return try await PairingPicture.read(path(name), context: context)
    }
}
