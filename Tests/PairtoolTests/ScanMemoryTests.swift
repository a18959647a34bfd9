import FoundationEssentials
import QRCodec
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// How much memory the built binary takes for pictures that claim much.
@Suite struct ScanMemoryTests {
    struct Claim: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Whether its pixels are more than are read at all, or only more than the file can hold.
        var code: String
        var file: @Sendable () throws -> [UInt8]
    }

    /// MiB that no claim may lead to: a byte a pixel of the smallest of them would be more.
    private static let bound = 150

    static let claims: [Claim] = [
        Claim(testDescription: "PNG, empty", code: "image.truncated") { try png(14_000) },
        Claim(testDescription: "PNG", code: "image.too_large") { try png(60_000) },
        Claim(testDescription: "JPEG", code: "image.too_large") { try jpeg(60_000) },
        Claim(testDescription: "WebP", code: "image.too_large") { webp(16_383) },
        Claim(testDescription: "HEIC, put together", code: "image.too_large") { try heic(14_000) },
        Claim(testDescription: "HEIC, coded", code: "image.too_large") { try repository("coded-larger.heic") },
    ]

    @Test("A picture that claims much is refused before memory is taken for it", arguments: claims)
    func refused(_ claim: Claim) async throws {
        try await Sandbox.with { user in
            let result = try await peak(of: try user.file("claim", claim.file()), user)
            #expect(result.status == 1, "\(result.err)")
            #expect(result.err.contains(claim.code), "\(result.err)")
            #expect(result.peak < Self.bound)
        }
    }

    @Test("What a picture takes that is read is seen")
    func seen() async throws {
        try await Sandbox.with { user in
            let file = user.directory + "/white.png"
            // Eight pixels a byte, stored, so that the file is one that is read.
            let script = """
                import struct, sys, zlib
                side = 14000
                def chunk(kind, data):
                    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
                rows = (bytes(1) + bytes([255]) * (side // 8)) * side
                parts = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)),
                         (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b"")]
                with open(sys.argv[1], "wb") as file:
                    file.write(bytes.fromhex("89504e470d0a1a0a") + b"".join(chunk(*part) for part in parts))
                """
            let drawn = try await user.shell("python3 -c '\(script)' '\(file)'")
            #expect(drawn.status == 0, "\(drawn)")
            #expect(try await peak(of: file, user).peak > Self.bound)
        }
    }

    /// Scans a file, and says how much memory that took at most, in MiB.
    private func peak(of file: String, _ user: Sandbox) async throws -> (status: Int, err: String, peak: Int) {
        let script = """
            import resource, subprocess, sys
            ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
            print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
            """
        let outcome = try await Subprocess.run(
            .name("python3"),
            arguments: ["-c", script, BuiltTool.path, "scan", "--json", file],
            environment: user.processEnvironment(["PATH": "/usr/bin:/bin"]),
            output: .string(limit: 1_000),
            error: .string(limit: 1 << 20)
        )
        let numbers = outcome.standardOutput.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2)
        return (numbers[0], outcome.standardError, numbers[1])
    }

    private static func repository(_ name: String) throws -> [UInt8] {
        let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return try ImageFile.bytes(ofFile: folder + "/DecoderFuzz/Regressions/" + name)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    private static func png(_ side: Int) throws -> [UInt8] {
        var file = try QRSymbol(bytes: [1]).png()
        file.replaceSubrange(16..<24, with: big(side, 4) + big(side, 4))
        // The checksum of the header's chunk (PNG specification, annex D).
        var sum = UInt32.max
        for byte in file[12..<29] {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        file.replaceSubrange(29..<33, with: big(Int(~sum), 4))
        return file
    }

    private static func webp(_ side: Int) -> [UInt8] {
        let frame = [0x10, 2, 0, 0x9D, 0x01, 0x2A] + little(side, 2) + little(side, 2) + little(0, 30)
        return Array("RIFF".utf8) + little(12 + frame.count, 4) + Array("WEBPVP8 ".utf8) + little(frame.count, 4)
            + frame
    }

    private static func jpeg(_ side: Int) throws -> [UInt8] {
        let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var file = try ImageFile.bytes(ofFile: folder + "/samples/photographed.jpg")
        let frame = try #require(file.indices.first { file[$0] == 0xFF && [0xC0, 0xC2].contains(file[$0 + 1]) })
        file.replaceSubrange(frame + 5..<frame + 9, with: big(side, 2) + big(side, 2))
        return file
    }

    private static func heic(_ side: Int) throws -> [UInt8] {
        var file = try repository("odd-sides.heic")
        let size = try #require(file.indices.last { file[$0...].starts(with: "ispe".utf8) })
        file.replaceSubrange(size + 8..<size + 16, with: big(side, 4) + big(1, 4))
        let canvas = try #require(file.indices.first { file[$0...].starts(with: "idat".utf8) })
        file.replaceSubrange(canvas + 8..<canvas + 12, with: big(side, 2) + big(side, 2))
        return file
    }
}
