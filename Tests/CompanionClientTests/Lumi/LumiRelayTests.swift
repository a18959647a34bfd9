import CompanionClient
import FoundationEssentials
import Testing

@Suite struct LumiRelayTests {
    private func frame(_ text: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { Array($0) } + Array(text.utf8)
    }

    private let command = #"{"id":"7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10","commandType":"get_volume","parameters":{}}"#
    private let answer = #"{"id":"7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10","success":true,"result":"50"}"#

    @Test func `frames that come a byte at a time go on whole`() {
        var relay = LumiRelay(generation: .approval)
        relay.clientCame()
        let sent = frame(command).flatMap { relay.client([$0]) }
        #expect(sent == [.toMac(frame(command))] && relay.unanswered == 1)
        let received = frame(answer).flatMap { relay.mac([$0]) }
        #expect(received == [.toClient(frame(answer))] && relay.unanswered == 0)
    }

    @Test func `an answer to a command that has left reaches nobody, also where it comes in parts`() {
        var relay = LumiRelay(generation: .approval)
        relay.clientCame()
        _ = relay.client(frame(command))
        let bytes = frame(answer)
        #expect(relay.mac(Array(bytes.prefix(9))).isEmpty)
        relay.clientLeft()
        #expect(relay.unanswered == 1)
        #expect(relay.mac(Array(bytes.dropFirst(9))).isEmpty && relay.unanswered == 0)
        relay.clientCame()
        #expect(relay.mac(bytes) == [.toClient(bytes)])
    }

    @Test func `half a command of one client is not put together with another's`() {
        var relay = LumiRelay(generation: .approval)
        relay.clientCame()
        #expect(relay.client(Array(frame(command).prefix(20))).isEmpty)
        relay.clientLeft()
        relay.clientCame()
        #expect(relay.client(frame(command)) == [.toMac(frame(command))])
    }

    @Test func `the holder's own commands never reach the Mac`() throws {
        var relay = LumiRelay(generation: .code)
        relay.clientCame()
        let state = command.replacing("get_volume", with: "pairtool.state")
        guard case .toClient(let bytes)? = relay.client(frame(state)).first else {
            Issue.record("no answer")
            return
        }
        let text = String(decoding: bytes.dropFirst(4), as: UTF8.self)
        #expect(text.contains(#""result":"2""#) && text.contains("7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10"))
        #expect(relay.client(try LumiRequest.holderEndFrame()) == [.end] && relay.unanswered == 0)
    }

    @Test func `a frame that is too large ends what sent it`() {
        var relay = LumiRelay(generation: .approval)
        relay.clientCame()
        #expect(relay.client([0xFF, 0, 0, 0]) == [.leaveClient])
        #expect(relay.mac([0xFF, 0, 0, 0]) == [.end])
    }
}
