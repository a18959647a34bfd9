import Terminal
import Testing

@Suite struct ShellWordsTests {
    @Test(
        "A command line is split as a shell would",
        arguments: [
            ("a  b\tc", ["a", "b", "c"]), (#"a 'b "c' "d 'e""#, ["a", #"b "c"#, "d 'e"]),
            (#"a\ b '\' ''"#, ["a b", #"\"#, ""]),
            // A mark behind a quote makes one character of both, and the quote is one all the same.
            ("'a b'\u{301} c", ["a b\u{301}", "c"]), ("", []),
        ]
    )
    func words(text: String, words: [String]) {
        #expect(ShellWords.split(text)?.map { Array($0.utf8) } == words.map { Array($0.utf8) })
    }

    @Test(
        "A quote that is not closed, and nothing behind a backslash, are no command line",
        arguments: ["a 'b", #"a""#, #"a\"#]
    )
    func open(text: String) {
        #expect(ShellWords.split(text) == nil)
    }
}
