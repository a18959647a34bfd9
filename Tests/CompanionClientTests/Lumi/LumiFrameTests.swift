import FoundationEssentials
import NIOCore
import Testing

@testable import CompanionClient

@Suite struct LumiFrameTests {
    private func payloads(_ buffer: inout ByteBuffer) throws -> [String] {
        var found: [String] = []
        while let payload = try LumiFrameParser.next(from: &buffer) { found.append(String(buffer: payload)) }
        return found
    }

    @Test func `frames come out whole, whichever way their bytes come in`() throws {
        let texts = ["{}", "", #"{"id":1}"#, String(repeating: "é", count: 300)]
        let bytes = texts.flatMap(lumiFrame)
        for step in [1, 2, 3, 5, 7, 600, bytes.count] {
            var buffer = ByteBuffer()
            var found: [String] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                buffer.writeBytes(bytes[start..<min(start + step, bytes.count)])
                found += try payloads(&buffer)
            }
            #expect(found == texts, "in steps of \(step)")
            #expect(buffer.readableBytes == 0)
        }
    }

    @Test func `what is not whole stays where it is`() throws {
        var buffer = ByteBuffer(bytes: lumiFrame("abc").dropLast())
        let payload = try LumiFrameParser.next(from: &buffer)
        #expect(payload == nil)
        #expect(buffer.readableBytes == 6)
    }

    @Test(arguments: [UInt32(8 << 20) + 1, 0x4854_5450, .max])
    func `a frame over 8 MiB is refused by its length alone`(_ length: UInt32) {
        var buffer = ByteBuffer(integer: length)
        #expect(throws: LumiFrameParser.Oversize(length: Int(length))) {
            try LumiFrameParser.next(from: &buffer)
        }
        #expect(buffer.capacity < 1024, "nothing was set aside")
    }

    @Test func `a frame of 8 MiB is taken`() throws {
        var buffer = ByteBuffer(integer: UInt32(8 << 20))
        let before = try LumiFrameParser.next(from: &buffer)
        #expect(before == nil)
        buffer.writeRepeatingByte(0x20, count: 8 << 20)
        let payload = try LumiFrameParser.next(from: &buffer)
        #expect(payload?.readableBytes == 8 << 20)
    }

    @Test func `a command that would be over 8 MiB is not made`() throws {
        #expect(throws: LumiFrameParser.Oversize.self) {
            try LumiFrameParser.frame(.init(count: 8 << 20 + 1))
        }
        let frame = try LumiFrameParser.frame(.init("ab".utf8))
        #expect(Array(frame.readableBytesView) == [0, 0, 0, 2, 0x61, 0x62])
    }
}
