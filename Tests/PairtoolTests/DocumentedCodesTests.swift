import CompanionApp
import FoundationEssentials
import LocalState
import PairingAgent
import Testing

@testable import pairtool

/// What docs/json.md promises to scripts.
@Suite struct DocumentedCodesTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// Dotted words of the document that are no codes but places in an object.
    private static let keyPaths: Set<String> = ["probe.reason"]

    /// Dotted words of the command line that are no codes: labels of queues, and a sound.
    private static func isLabel(_ word: String) -> Bool { word.hasPrefix("pairtool.") || word == "im.received" }

    /// Words of the library to which its conversion to `AppError` gives other codes.
    private static let renamed: Set<String> = [
        "image.camera_busy", "image.camera_denied", "image.camera_failed", "image.camera_not_found",
        "image.not_a_camera", "image.file_not_found", "image.file_denied", "image.io", "image.payload_too_long",
        "image.window_too_small",
    ]

    @Test("Every code and event that docs/json.md quotes is one that the sources can give, letter by letter")
    func documented() async throws {
        let codes = try Self.quoted().subtracting(Self.keyPaths)
        for family in ["host", "pairing", "scan", "discovery"] {
            #expect(codes.contains { $0.hasPrefix(family + ".") }, "\(family)")
        }
        let given = try await BlockingCall.run { try Self.given(by: []) }
        for code in codes.sorted() { #expect(given.contains(code), "\(code)") }
    }

    @Test("Every code that a command can give is in docs/json.md")
    func complete() async throws {
        let quoted = try Self.quoted()
        let given = try await BlockingCall.run {
            try Self.given(by: ["pairtool", "CompanionApp", "HostOwner", "PairingAgent"])
        }
        .filter { !Self.isLabel($0) }.subtracting(Self.renamed)
        for code in [
            "host.not_running", "pairing.rate_limited", "chat.unknown", "image.corrupt", "provider.refused_url",
        ] {
            #expect(given.contains(code), "\(code)")
        }
        for code in given.subtracting(quoted).sorted() { Issue.record("\(code) is not documented") }
    }

    private static func quoted() throws -> Set<String> {
        let text = try String(contentsOf: URL(filePath: root + "/docs/json.md"), encoding: .utf8)
        return Set(text.matches(of: /[`"]([a-z]+\.[A-Za-z_]+)[`"]/).map { String($0.output.1) })
    }

    /// Takes seconds. The dotted words in the sources of modules, those that are made of the codes of other errors, and of the names of
    /// things that are looked for.
    ///
    /// - Parameter modules: Their names; none for all.
    private static func given(by modules: Set<String>) throws -> Set<String> {
        let sources = try sources()
        var words: Set<String> = []
        var kinds: Set<String> = []
        var ends: Set<String> = []
        for (file, text) in sources
        where modules.isEmpty || file.split(separator: "/").first.map({ modules.contains(String($0)) }) == true {
            words.formUnion(text.matches(of: /"([a-z]+\.[a-z_]+)"/).map { String($0.output.1) })
            kinds.formUnion(text.matches(of: /kind: "([a-z]+)"/).map { String($0.output.1) })
            ends.formUnion(text.matches(of: /"\\\(kind\)\.([a-z_]+)"/).map { String($0.output.1) })
            // The type of an error, and behind it the family that its codes get.
            var type: Substring?
            for match in text.matches(
                of: /error(?:: | as )(\w+)|extension (\w+): DescribedError|"([a-z]+)\.\\\((?:error\.)?code\)"/
            ) {
                if let name = match.output.1 ?? match.output.2 { type = name }
                guard let family = match.output.3, let type else { continue }
                let declaration = sources.first { $0.key.hasSuffix("/\(type).swift") }?.value ?? ""
                let literals = Dictionary(
                    declaration.matches(of: /case (\w+) = "([a-z_]+)"/).map { ($0.output.1, $0.output.2) },
                    uniquingKeysWith: { first, _ in first }
                )
                for name in declaration.matches(of: /static let (\w+) = Code\(/).map(\.output.1) {
                    words.insert("\(family).\(literals[name] ?? name)")
                }
            }
        }
        for kind in kinds { words.formUnion(ends.map { "\(kind).\($0)" }) }
        return words
    }

    private static func sources() throws -> [String: String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: root + "/Sources")
        return try Dictionary(
            uniqueKeysWithValues: files.filter { $0.hasSuffix(".swift") }.map {
                ($0, try String(contentsOf: URL(filePath: "\(root)/Sources/\($0)"), encoding: .utf8))
            }
        )
    }
}
