import FoundationEssentials
import Testing

@testable import pairtool

/// What docs/json.md promises to scripts.
@Suite struct DocumentedCodesTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// Dotted words of the document that are no codes but places in an object.
    private static let keyPaths: Set<String> = ["probe.reason"]

    @Test("Every code and event that docs/json.md quotes is one that the sources can give, letter by letter")
    func documented() throws {
        let text = try String(contentsOf: URL(filePath: Self.root + "/docs/json.md"), encoding: .utf8)
        let quoted = text.matches(of: /[`"]([a-z]+\.[A-Za-z_]+)[`"]/).map { String($0.output.1) }
        let codes = Set(quoted).subtracting(Self.keyPaths)
        for family in ["host", "pairing", "scan", "discovery"] {
            #expect(codes.contains { $0.hasPrefix(family + ".") }, "\(family)")
        }
        let given = try Self.given()
        for code in codes.sorted() { #expect(given.contains(code), "\(code)") }
    }

    /// The dotted words of the sources, and what `CommandError` makes of those that end in the code of another error.
    private static func given() throws -> Set<String> {
        var words: Set<String> = []
        var families: Set<String> = []
        var names: Set<String> = []
        let files = try FileManager.default.subpathsOfDirectory(atPath: root + "/Sources")
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: URL(filePath: "\(root)/Sources/\(file)"), encoding: .utf8)
            words.formUnion(text.matches(of: /"([a-z]+\.[a-z_]+)"/).map { String($0.output.1) })
            families.formUnion(text.matches(of: /"([a-z]+)\.\\\((?:error\.)?code\)"/).map { String($0.output.1) })
            names.formUnion(text.matches(of: /static let ([a-zA-Z]+) = Code\(/).map { String($0.output.1) })
        }
        for family in families {
            words.formUnion(names.map { CommandError(.failed, "\(family).\($0)", "").code })
        }
        return words
    }
}
