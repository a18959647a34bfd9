import CompanionWire
import Testing

@testable import Terminal

/// What fits a narrow terminal, and what is left out.
@Suite struct TableTests {
    private struct Row {
        var name = "A host with a name that is long"
        var trust = "verified"
        var id = "0123abcd"
        var addresses = "192.168.100.20:7878 192.168.100.20:7879 [fe80::1%eth0]:7878"
    }

    private static var columns: [TableColumn<Row>] {
        [
            TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
            TableColumn("TRUST", rank: 2) { $0.trust },
            TableColumn("ID", rank: 0) { $0.id },
            TableColumn("ADDRESSES", .words) { $0.addresses },
        ]
    }

    private func lines(of rows: [Row] = [Row()], _ width: Int?) -> [String] {
        Table.render(rows, columns: Self.columns, width: width, colour: false).split(separator: "\n").map(String.init)
    }

    @Test(
        "A text is as wide as its characters",
        arguments: ["–", "a–é", "e\u{301}–", "日本–", "🇩🇪–", "\r\n", "–\r\n", "a\u{FE0F}"]
    )
    func widths(text: String) {
        #expect(DisplayWidth.of(text) == text.reduce(0) { $0 + DisplayWidth.of($1) })
    }

    @Test("With room, everything is shown", arguments: [200, nil])
    func wide(width: Int?) {
        let row = Row()
        #expect(lines(width).last == "\(row.name)  verified  0123abcd  \(row.addresses)")
    }

    @Test("Names keep twelve columns, ids all of theirs, and addresses are whole or not there", arguments: 22...120)
    func narrow(width: Int) {
        let lines = lines(of: [Row(), Row(addresses: "10.0.0.1:7878")], width)
        let row = Row()
        for line in lines { #expect(DisplayWidth.of(line) <= width, "\(line)") }
        for line in lines.dropFirst() {
            #expect(line.hasPrefix("A host with") && line.contains("  0123abcd"), "\(line)")
            let addresses = line.split(separator: "0123abcd").dropFirst().first.map(String.init) ?? ""
            let words = addresses.split(separator: " ").filter { $0 != "…" }.map(String.init)
            #expect(row.addresses.hasPrefix(words.joined(separator: " ")) || words == ["10.0.0.1:7878"], "\(line)")
        }
    }

    @Test("Columns of high rank go first")
    func order() {
        #expect(lines(80).first?.split(separator: " ") == ["NAME", "TRUST", "ID", "ADDRESSES"])
        #expect(lines(45).first?.split(separator: " ") == ["NAME", "ID", "ADDRESSES"])
        // What is too wide leaves its room to what is not.
        #expect(lines(40).first?.split(separator: " ") == ["NAME", "TRUST", "ID"])
        #expect(lines(24).first?.split(separator: " ") == ["NAME", "ID"])
    }

    @Test("Sentences are broken between words, and what has no blank anywhere")
    func sentences() {
        let text = "no host was found, and nobody knows why"
        #expect(IndentedText.of(text, first: 0, columns: 20) == "no host was found,\n  and nobody knows\n  why")
        #expect(IndentedText.of(text, first: 0, columns: nil) == text)
        #expect(IndentedText.of("abcdefghijklmnop", indent: 2, columns: 12) == "  abcdefghij\n  klmnop")
        #expect(IndentedText.of("a bcdefghijkl", indent: 2, columns: 12) == "  a\n  bcdefghijk\n  l")
        #expect(IndentedText.of("    indented text", indent: 2, columns: 16) == "      indented\n  text")
        let address = "at http://a-very-long-name.example:7878 now"
        #expect(
            IndentedText.of(address, first: 0, columns: 20, keepsWords: true)
                == "at\n  http://a-very-long-name.example:7878\n  now",
            "what is to be copied stays whole"
        )
        for columns in 10...60 {
            let broken = IndentedText.of(text, columns: columns)
            #expect(broken.split(separator: "\n").allSatisfy { $0.hasPrefix("  ") && $0.count <= columns })
            #expect(broken.split { $0 == " " || $0 == "\n" } == text.split(separator: " "))
        }
    }

    @Test("Of ids, as much is shown as tells them apart, and eight characters at least")
    func ids() {
        let column = TableColumn<String>.id { $0 }
        func shown(_ ids: String...) -> [Substring] {
            Table.render(ids, columns: [column], width: 40, colour: false).split(separator: "\n").dropFirst().map { $0 }
        }
        #expect(shown("0123456789ab", "f") == ["01234567", "f"])
        #expect(shown("0123456789ab", "0123456789cd", "012345") == ["0123456789a", "0123456789c", "012345"])
        #expect(shown("0123456789ab", "0123456789ab") == ["01234567", "01234567"])
        #expect(shown("012345678", "0123456789") == ["012345678", "0123456789"])
    }
}
