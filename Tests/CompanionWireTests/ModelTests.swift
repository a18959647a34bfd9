import CompanionWire
import FoundationEssentials
import Testing

@Suite struct ModelTests {
    private func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try CompanionJSON.decoder().decode(type, from: Data(json.utf8))
    }

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try CompanionJSON.encoder(sorted: true).encode(value), as: UTF8.self)
    }

    @Test(
        "Times are read with and without fractions",
        arguments: ["2026-11-21T09:30:00.000Z", "2026-11-21T09:30:00Z", "2026-11-21T10:30:00+01:00"]
    )
    func times(text: String) {
        #expect(CompanionTimestamp.date(from: text) == Date(timeIntervalSince1970: 1_795_253_400))
    }

    @Test("Times are written with milliseconds and read back the same", arguments: [0, 1, 123, 456, 789, 999])
    func milliseconds(value: Int) throws {
        let date = Date(timeIntervalSince1970: 1_795_253_400 + Double(value) / 1000)
        let digits = String(1000 + value).dropFirst()
        #expect(CompanionTimestamp.string(from: date) == "2026-11-21T09:30:00.\(digits)Z")
    }

    @Test("Text that is no time is refused", arguments: ["", "tomorrow", "2026-13-01T00:00:00Z"])
    func noTime(text: String) {
        #expect(CompanionTimestamp.date(from: text) == nil)
    }

    @Test("One bad item does not hide the others")
    func lossyLists() throws {
        let response = try decode(
            CompanionProjectsResponse.self,
            #"{"ok":true,"projects":[{"id":"a","name":"A","localPath":"/a","x":[1]},7,{"name":"no id"},null,{"id":"b"}]}"#
        )
        #expect(response.projects.elements.map(\.id) == ["a", "b"])
        #expect(response.projects.dropped == 3)
    }

    @Test("A disconnected status is written with an explicit null, as deployed hosts do")
    func nullDevice() throws {
        #expect(
            try json(CompanionStatusResponse(connectedDevice: nil))
                == #"{"connected":false,"connectedDevice":null,"ok":true}"#
        )
    }

    @Test("The last page is written with an explicit null cursor")
    func nullCursor() throws {
        let page = CompanionMessagesPageResponse(chatId: "c", messages: [], nextCursor: nil)
        #expect(try json(page) == #"{"chatId":"c","messages":[],"nextCursor":null,"ok":true}"#)
    }

    @Test("Unknown fields, roles and missing dates are tolerated")
    func tolerance() throws {
        let message = try decode(
            CompanionMessage.self,
            #"{"id":"m","role":"tool","text":"t","createdAt":"?","new":{}}"#
        )
        #expect(message.role.rawValue == "tool")
        #expect(message.createdAt == nil)
    }

    @Test("A request leaves out what is nil and keeps an empty list of tools, which means the opposite")
    func allowedTools() throws {
        var request = ContinueChatRequest(prompt: "p", projectPath: nil, model: "m", allowedTools: [])
        #expect(try json(request) == #"{"allowedTools":[],"model":"m","prompt":"p"}"#)
        request.allowedTools = nil
        #expect(try json(request) == #"{"model":"m","prompt":"p"}"#)
    }
}
