import ArgumentParser
import CompanionWire
import Discovery
import FoundationEssentials
import Logging

/// Where a fake host listens and is advertised.
struct FakeOptions: ParsableArguments {
    @Option(help: "The port. Default: any free one.")
    var port = 0

    @Option(help: "Advertise it by mDNS on this interface: lo. Default: not at all.")
    var advertise: String?

    func validate() throws {
        if !(0...65535).contains(port) { throw ValidationError("\(port) is no port.") }
        // A fake is for one machine: nobody else shall take it for a host.
        if let advertise, advertise != "lo" { throw ValidationError("A fake is advertised on lo only.") }
    }

    private struct Listening: Encodable {
        var family: HostFamily
        var address: String
        var port: Int
        /// The name it is advertised by.
        var name: String?
        /// More to know, such as a token that it takes.
        var more: [String: String]?
    }

    /// Says where the fake listens, advertises it if that is wanted, and waits for the end of standard input.
    func serve(
        _ family: HostFamily,
        address: String,
        port: Int,
        as advertisement: Advertisement? = nil,
        more: [String: String]? = nil
    ) async throws {
        guard let advertise, let advertisement else {
            try say(Listening(family: family, address: address, port: port, more: more))
            return await StandardStreams.inputEnd()
        }
        let client = CompanionDiscoveryClient(
            engine: .embedded,
            interface: advertise,
            logger: Logger(label: "fakes") { _ in SwiftLogNoOpLogHandler() }
        )
        try await client.withAdvertisement(advertisement) { events in
            for await event in events {
                guard case .published(let name, _) = event else { continue }
                try say(Listening(family: family, address: address, port: port, name: name, more: more))
                return await StandardStreams.inputEnd()
            }
        }
    }

    private func say(_ listening: Listening) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try StandardStreams.write(line: String(decoding: try encoder.encode(listening), as: UTF8.self))
    }
}
