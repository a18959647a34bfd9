import CompanionWire
import FoundationEssentials
import Testing

/// Text of peers that is no Unicode.
@Suite struct LoneSurrogateTests {
    private func chats(_ title: String) throws -> LossyArray<CompanionChat> {
        try chats(Array(title.utf8))
    }

    private func chats(_ title: [UInt8]) throws -> LossyArray<CompanionChat> {
        let json = Array(#"{"ok":true,"chats":[{"id":"1","title":""#.utf8) + title + Array(#""},{"id":"2"}]}"#.utf8)
        return try CompanionJSON.decode(CompanionChatsResponse.self, fromPeer: Data(json)).chats
    }

    @Test(
        "Half a character in JSON is shown as a replacement, and the element stays",
        arguments: [
            (#"forty-four letters \ud83d..."#, "forty-four letters \u{FFFD}..."), (#"\uDE00 low"#, "\u{FFFD} low"),
            (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"),
            (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"), (#"\ud83d\u0041"#, "\u{FFFD}A"),
            (#"\ud83d\ude00 whole"#, "😀 whole"), (#"\uD83D\uDE00 in capitals"#, "😀 in capitals"),
            (#"C:\\ud83d is a path"#, #"C:\ud83d is a path"#), (#"\\\ud83d\\"#, "\\\u{FFFD}\\"),
            (#"\"\ud83d\""#, "\"\u{FFFD}\""),
            ("plain é😀", "plain é😀"),
        ]
    )
    func escapes(written: String, shown: String) throws {
        let list = try chats(written)
        #expect(list.elements.map { Array($0.title.utf8) } == [Array(shown.utf8), []])
        #expect(list.dropped == 0)
    }

    @Test(
        "Bytes that are not UTF-8 are replaced, and halves that were encoded one by one are put together",
        arguments: [
            ([0x61, 0xFF, 0x62], "a\u{FFFD}b"), ([0xED, 0xA0, 0xBD], "\u{FFFD}"),
            ([0xED, 0xB8, 0x80, 0x21], "\u{FFFD}!"),
            ([0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], "😀"), ([0xC3, 0xA9, 0xC3], "é\u{FFFD}"),
            ([0xED, 0xA0, 0xBD, 0xED, 0xA0, 0xBD], "\u{FFFD}\u{FFFD}"), ([0xED, 0x9F, 0xBF], "\u{D7FF}"),
        ] as [([UInt8], String)]
    )
    func bytes(written: [UInt8], shown: String) throws {
        let list = try chats(written)
        #expect(list.elements.map { Array($0.title.utf8) } == [Array(shown.utf8), []])
    }

    @Test("What cannot be read is counted, with its place")
    func places() throws {
        let json = #"{"ok":true,"chats":[{"title":"no id"},{"id":"1"},7,{"id":"2"},null]}"#
        let list = try CompanionJSON.decode(CompanionChatsResponse.self, fromPeer: Data(json.utf8)).chats
        #expect(list.elements.map(\.id) == ["1", "2"])
        #expect(list.droppedIndices == [0, 2, 4] && list.dropped == 3)
    }

    @Test("Any cut of a text by UTF-16 units leaves JSON that can be read", arguments: 0...14)
    func everyCut(units: Int) throws {
        let text = Array("a😀é\"\\👩‍💻\n".utf16)
        var escaped = ""
        for unit in text.prefix(units) {
            let hex = String(unit, radix: 16)
            escaped += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
        let list = try chats(escaped)
        #expect(list.elements.first?.title == String(decoding: text.prefix(units), as: UTF16.self))
    }
}
