package import CompanionWire
import Providers

/// A copy of the public registry of agents (github.com/agentclientprotocol/registry, FORMAT.md): a list of agents, each
/// with ways to run it.
package struct AgentRegistry: Sendable, Hashable {
    /// Bytes of a copy.
    package static let mostBytes = 4 << 20
    private static let patience = Duration.seconds(20)

    /// An agent of the registry, as this machine would run it.
    package struct Entry: Encodable, Sendable, Hashable {
        package var id: String
        package var name: String
        package var version: String
        package var description: String
        /// The program with its arguments.
        package var command: [String]
        /// Variables that it is started with.
        package var environment: [String: String]
        /// The address of its program, for a person to download; nil for what `npx` or `uvx` fetches when it is run.
        package var archive: String?
    }

    /// Why a copy cannot be used.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// A clause for people, such as `it is no JSON`.
        package var description: String

        package init(description: String) { self.description = description }
    }

    /// By their ids. Those that this machine could not run are missing.
    package var entries: [Entry]

    /// Reads a copy.
    ///
    /// - Parameter platform: The registry's word for this machine. Default: the one that pairtool was built for.
    package init(_ bytes: [UInt8], platform: String = Self.platform) throws(Failure) {
        guard let value = JSONValue(lenient: bytes) else { throw Failure(description: "it is no JSON") }
        // The whole registry, or the file of one agent.
        guard let agents = value["agents"]?.array ?? (value["distribution"] == nil ? nil : [value]) else {
            throw Failure(description: "it has no list of agents")
        }
        entries = agents.compactMap { Entry($0, platform: platform) }.sorted { $0.id < $1.id }
    }

    package static var platform: String {
        #if arch(arm64)
            "linux-aarch64"
        #else
            "linux-x86_64"
        #endif
    }

    /// The agent with an id; nil for none.
    package func entry(_ id: String) -> Entry? { entries.first { $0.id.isSame(as: id) } }

    /// Fetches a copy over HTTPS. Follows no redirect.
    ///
    /// - Throws: ``Failure``; `CancellationError`.
    package static func fetch(_ link: PageLink) async throws -> AgentRegistry {
        guard link.url.dropping(prefix: "https://", ignoringCase: true) != nil else {
            throw Failure(description: "its address is not https")
        }
        do {
            return try AgentRegistry(
                await HTTPDownload.bytes(of: link.url, limit: mostBytes, patience: patience)
            )
        } catch let failure as HTTPDownload.Failure {
            throw Failure(description: failure.description)
        }
    }
}

extension AgentRegistry.Entry {
    /// Bytes and words of a command and its variables.
    private static let mostBytes = 1000
    private static let mostWords = 60

    /// - Returns: nil for an agent without a way to run it here.
    fileprivate init?(_ value: JSONValue, platform: String) {
        guard let id = value["id"]?.string, Self.isWord(id) else { return nil }
        let ways = value["distribution"]
        let way: JSONValue
        // What begins with a dash would be an option of npx or uvx.
        if let npx = ways?["npx"], let package = npx["package"]?.string, !package.begins(with: "-") {
            (way, command) = (npx, ["npx", "--yes", package])
        } else if let uvx = ways?["uvx"], let package = uvx["package"]?.string, !package.begins(with: "-") {
            (way, command) = (uvx, ["uvx", package])
        } else if let binary = ways?["binary"]?[platform], let program = binary["cmd"]?.string {
            // In the archive it lies in a folder of its own.
            (way, command) = (binary, [program.parts("/").last.map(String.init) ?? program])
            archive = binary["archive"]?.string
        } else {
            return nil
        }
        command += (way["args"]?.array ?? []).compactMap(\.string)
        environment = (way["env"]?.object ?? [:]).compactMapValues(\.string)
        // People decide by the line that shows them all.
        let words = command + environment.keys + environment.values
        guard words.allSatisfy({ !TerminalText.isUnsafe($0) }), words.count <= Self.mostWords,
            words.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes, !command[0].isEmpty,
            environment.keys.allSatisfy(\.isVariableName)
        else { return nil }
        self.id = id
        name = value["name"]?.string?.oneLine(atMost: 100) ?? id
        version = value["version"]?.string?.oneLine(atMost: 40) ?? ""
        description = value["description"]?.string?.oneLine(atMost: 300) ?? ""
    }

    private static func isWord(_ id: String) -> Bool {
        (1...100).contains(id.utf8.count)
            && id.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
    }

    /// The command as it would be typed, with its variables.
    package var commandLine: String {
        let words = environment.sorted { $0.key < $1.key }.map {
            "\($0.key)=\(ACPCommand.quoted($0.value, isFirst: false))"
        }
        return (words + command.map { ACPCommand.quoted($0, isFirst: false) }).joined(separator: " ")
    }
}

extension String {
    /// Whether the text can be the name of an environment variable.
    package var isVariableName: Bool {
        guard let first = utf8.first, !first.isASCIIDigit else { return false }
        return utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIIDigit || $0.isASCIILetter }
    }
}
