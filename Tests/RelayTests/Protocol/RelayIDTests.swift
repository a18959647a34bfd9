import CompanionWire
import FoundationEssentials
import Testing

@Suite("Ids of relays and their users")
struct RelayIDTests {
    @Test(
        "The text is Syncthing's",
        arguments: [
            (RecordedRelay.caller, RecordedRelay.callerText), (RecordedRelay.other, RecordedRelay.otherText),
        ]
    )
    func text(bytes: [UInt8], text: String) throws {
        let id = try #require(RelayID(bytes: bytes))
        #expect(id.description == text)
        #expect(RelayID(text) == id && RelayID(text)?.bytes == bytes)
        #expect(RelayID(text.lowercased()) == id)
        #expect(RelayID(text.replacing("-", with: "")) == id)
        #expect(RelayID(text.replacing("-", with: "").lowercased()) == id)
    }

    @Test("Every id is read back from its text")
    func roundTrip() throws {
        var dice = Dice(seed: 1)
        for _ in 0..<1000 {
            let id = try #require(RelayID(bytes: dice.bytes(32)))
            #expect(RelayID(id.description) == id)
        }
    }

    @Test("A changed character is noticed, whichever it is")
    func mistyped() {
        let text = Array(RecordedRelay.otherText.utf8)
        for place in text.indices where text[place] != UInt8(ascii: "-") {
            for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8 where character != text[place] {
                var changed = text
                changed[place] = character
                #expect(RelayID(String(decoding: changed, as: UTF8.self)) == nil)
            }
        }
    }

    @Test(
        "Text that is no id",
        arguments: [
            "", "-", RecordedRelay.otherText + "A", String(RecordedRelay.otherText.dropLast()),
            " " + RecordedRelay.otherText, RecordedRelay.otherText + "-", "-" + RecordedRelay.otherText,
            RecordedRelay.otherText.replacing("-", with: " "), RecordedRelay.otherText.replacing("-", with: "--"),
            RecordedRelay.otherText.replacing("PN3LRSE-", with: "PN3LRS-E"),
            RecordedRelay.otherText.replacing("PN3LRSE", with: "PN3LRS1"),
            RecordedRelay.otherText.replacing("PN3LRSE", with: "PN3LR\u{017F}E"),
            RecordedRelay.otherText.replacing("PN3LRSE-", with: "PN3LRSE-\u{301}"),
            String(repeating: "A", count: 1_000_000),
        ]
    )
    func invalid(text: String) {
        #expect(RelayID(text) == nil)
    }

    @Test("Bits behind the last byte have to be zero: every id has one text")
    func spareBits() throws {
        // All zeros, with a last digit that stands for more than the one bit that is left.
        let zeros = try #require(RelayID(bytes: [UInt8](repeating: 0, count: 32)))
        #expect(zeros.description == Array(repeating: "AAAAAAA", count: 8).joined(separator: "-"))
        #expect(RelayID(zeros.description.dropLast(2) + "B7") == nil)
        #expect(RelayID(zeros.description.dropLast(2) + "QQ") != nil)
    }

    @Test("Only 32 bytes are an id", arguments: [0, 31, 33])
    func lengths(count: Int) {
        #expect(RelayID(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test("In JSON it is its text")
    func json() throws {
        let id = RecordedRelay.id(RecordedRelay.other)
        let data = try JSONEncoder().encode([id])
        #expect(String(decoding: data, as: UTF8.self) == "[\"\(RecordedRelay.otherText)\"]")
        #expect(try JSONDecoder().decode([RelayID].self, from: data) == [id])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RelayID].self, from: Data(#"["PN3LRSE"]"#.utf8))
        }
    }
}
