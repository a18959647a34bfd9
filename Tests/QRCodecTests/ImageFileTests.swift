import Glibc
import QRCodec
import SeededNumbers
import Testing

@Suite("Reading files")
struct ImageFileTests {
    @Test("A file that is not there, and a folder, say why")
    func unreadable() {
        for path in ["/nonexistent/qr.png", "/"] {
            let error = #expect(throws: QRCodecError.self) { try ImageFile.bytes(ofFile: path) }
            #expect(error?.code == .io)
            #expect(error?.message.contains(" \(path): ") == true)
        }
    }

    @Test("A pipe is read to its end", arguments: [0, 1, 65_536, 200_001])
    func pipe(count: Int) throws {
        var generator = SeededGenerator(seed: 5)
        let sent = generator.bytes(count)
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        // A pipe holds 64 KiB: the writer needs a thread of its own.
        let thread = Thread(writing: sent, to: writer)
        defer { thread.join() }
        #expect(try ImageFile.bytes(ofDescriptor: reader, named: "standard input") == sent)
    }

    @Test("A file or pipe without end is given up at the limit")
    func endless() {
        let limits = ImageLimits(maxFileBytes: 100_000)
        let error = #expect(throws: QRCodecError.self) { try ImageFile.bytes(ofFile: "/dev/zero", limits: limits) }
        #expect(error?.code == .tooLarge)
    }

    @Test("A file of exactly the limit is read, one byte more is refused")
    func limit() throws {
        let name = "payload-good.json"
        let count = try Samples.bytes(name).count
        let path = Samples.path(name)
        #expect(try ImageFile.bytes(ofFile: path, limits: ImageLimits(maxFileBytes: count)).count == count)
        let error = #expect(throws: QRCodecError.self) {
            try ImageFile.bytes(ofFile: path, limits: ImageLimits(maxFileBytes: count - 1))
        }
        #expect(error?.code == .tooLarge)
    }
}
