import FoundationEssentials
import NIOConcurrencyHelpers
import QRCodec
import Subprocess
import SystemPackage

@testable import pairtool

/// An X server without a screen, into which pictures are painted (`Tests/Support/xscreen.py`).
struct XServer: Sendable {
    let display: String
    let tell: @Sendable (String) async throws -> Void

    var environment: [String: String] { ["DISPLAY": display] }

    static let missing = ["Xvfb", "xclip", "python3"]
        .filter { !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        .joined(separator: ", ")

    /// Runs a body beside a server.
    ///
    /// - Parameter depth: 24 or 16 bits a pixel.
    static func with<R: Sendable>(
        depth: Int = 24,
        _ body: @escaping @Sendable (XServer) async throws -> R
    ) async throws -> R {
        try await Subprocess.run(
            .path("/usr/bin/python3"),
            arguments: ["\(LAN.support)/xscreen.py", "--depth", "\(depth)"],
            environment: .inherit,
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            let events = HostEvents()
            let writer = process.standardInputWriter
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await line in process.standardOutput.strings() { try await events.take(line) }
                    await events.end()
                }
                let ready = try await events.firstLine("the display") { $0["display"] != nil }
                let count = NIOLockedValueBox(0.0)
                let server = XServer(display: ready["display"]?.string ?? "") { line in
                    let number = count.withLockedValue { count in
                        count += 1
                        return count
                    }
                    _ = try await writer.write(line + "\n")
                    _ = try await events.firstLine(line) { $0["done"] == .number(number) }
                }
                let result: R
                do {
                    result = try await body(server)
                } catch {
                    try? await writer.finish()
                    throw error
                }
                // Its end is the server's.
                try await writer.finish()
                try await group.waitForAll()
                return result
            }
        }.closureResult
    }

    /// Shows a code.
    func show(_ text: String, in user: Sandbox) async throws {
        let symbol = try QRSymbol(bytes: Array(text.utf8))
        let (scale, side) = (4, symbol.size + 8)
        var file = Array("P5 \(side * scale) \(side * scale) 255\n".utf8)
        for y in 0..<side * scale {
            for x in 0..<side * scale { file.append(symbol[x / scale - 4, y / scale - 4] ? 0 : 255) }
        }
        try await tell("paint \(try user.file("painted.pgm", file))")
    }
}
