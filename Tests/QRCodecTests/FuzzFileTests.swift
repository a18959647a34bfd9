import Glibc
import QRCodec
import Testing

@Suite("Files of the decoders' fuzzing")
struct FuzzFileTests {
    /// The files of a folder in `Tests/DecoderFuzz`; none where there is no such folder.
    private static func files(_ folder: String) -> [String] {
        let path = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/DecoderFuzz/" + folder
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(path + "/" + name) }
        }
        return names.sorted()
    }

    static let regressions = files("Regressions")

    @Test("What once failed is read or refused", .timeLimit(.minutes(15)), arguments: regressions)
    func regression(path: String) throws {
        do throws(QRCodecError) {
            let found = try QRScanner.scan(ImageFile.bytes(ofFile: path), limits: ImageLimits(maxPixels: 4_000_000))
            #expect(found.allSatisfy { $0.text == "seed" })
        } catch {
            #expect(error.code != .io && error.code != .missingLibrary, "\(error)")
        }
    }

    @Test("What fuzzing starts from is read", arguments: files("Seeds"))
    func seed(path: String) throws {
        #expect(try QRScanner.scan(ImageFile.bytes(ofFile: path)).map(\.text) == ["seed"])
    }

    @Test("There are such files")
    func some() {
        #expect(!Self.regressions.isEmpty && !Self.files("Seeds").isEmpty)
    }
}
