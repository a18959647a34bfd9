import CompanionTestSupport
import NIOCore
import NIOPosix
import Testing

/// The fake host is what everything else is measured with: it has to be wrong where real ones are.
@Suite struct FakeLumiTests {
    private typealias Socket = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private func connect(_ host: FakeLumi) async throws -> Socket {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: host.port) { channel in
                channel.eventLoop.makeCompletedFuture { try Socket(wrappingChannelSynchronously: channel) }
            }
    }

    private static func command(_ name: String) -> [UInt8] {
        lumiFrame(#"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","commandType":"\#(name)","parameters":{}}"#)
    }

    @Test func `an old host loses a frame that comes in two reads`() async throws {
        try await withFakeLumi(.with { $0.parsesByRead = true }) { host in
            try await connect(host).executeThenClose { inbound, outbound in
                let frame = Self.command("get_volume")
                try await outbound.write(ByteBuffer(bytes: frame.prefix(10)))
                try await host.hasRead(1)
                try await outbound.write(ByteBuffer(bytes: frame.dropFirst(10)))
                try await host.hasRead(2)
                try await outbound.write(ByteBuffer(bytes: Self.command("get_mute")))
                var answers = inbound.makeAsyncIterator()
                _ = try await answers.next()
            }
            #expect(host.commands.map(\.name) == ["get_mute"])
        }
    }

    @Test(arguments: [true, false])
    func `only old hosts end of two frames in one read`(isOld: Bool) async throws {
        try await withFakeLumi(.with { $0.parsesByRead = isOld }) { host in
            try await connect(host).executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(bytes: Self.command("get_volume") + Self.command("get_mute")))
                var answers = inbound.makeAsyncIterator()
                var said = ""
                while said.matches(of: /"result"/).count < 2, let next = try? await answers.next() {
                    said += String(buffer: next)
                }
                #expect(said.isEmpty == isOld)
            }
            #expect(host.commands.count == (isOld ? 0 : 2))
        }
    }

    @Test(arguments: [
        #"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","command":"get_volume","parameters":{}}"#,
        #"{"id":"1","commandType":"get_volume","parameters":{}}"#,
        #"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","commandType":"set_volume","parameters":{"level":5}}"#,
        #"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","commandType":"get_volume"}"#,
        "not JSON",
    ])
    func `what cannot be read gets no answer`(_ text: String) async throws {
        try await withFakeLumi { host in
            try await connect(host).executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(bytes: lumiFrame(text)))
                try await outbound.write(ByteBuffer(bytes: Self.command("get_mute")))
                var answers = inbound.makeAsyncIterator()
                let first = try await answers.next().map { String(buffer: $0) }
                #expect(first?.contains(#""result":"false""#) == true)
            }
            #expect(host.commands.map(\.name) == ["get_mute"])
        }
    }

    @Test func `a name belongs to one connection at a time`() async throws {
        try await withFakeLumi(.with { $0.generation = .open }) { host in
            let ping = lumiFrame(
                #"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","commandType":"ping","parameters":{"device_name":"desk"}}"#
            )
            try await connect(host).executeThenClose { first, toFirst in
                try await toFirst.write(ByteBuffer(bytes: ping))
                var firstAnswers = first.makeAsyncIterator()
                _ = try await firstAnswers.next()
                try await connect(host).executeThenClose { second, toSecond in
                    try await toSecond.write(ByteBuffer(bytes: ping))
                    var secondAnswers = second.makeAsyncIterator()
                    #expect(try await secondAnswers.next() != nil)
                    #expect(try await firstAnswers.next() == nil)
                }
            }
        }
    }
}
