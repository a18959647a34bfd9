import Testing

@testable import CompanionApp
@testable import pairtool

@Suite struct LookalikeNameTests {
    @Test(
        "Names that look the same are the same",
        arguments: [
            ("Alpha", "A1pha"), ("Alpha", "AIpha"), ("Studio", "Studi\u{43E}"), ("Studio", "stud1o"),
            ("Box 10", "Box lO"),
            ("Mac mini", "Macmini"), ("\u{E9}tage", "e\u{301}tage"), ("Ann\u{2019}s", "Ann's"), ("a\u{200B}b", "ab"),
            ("Ｓｔｕｄｉｏ　１", "Studio 1"), ("𝐒𝐭𝐮𝐝𝐢𝐨 𝟏", "Studio 1"), ("Ⓢⓣⓤⓓⓘⓞ", "Studio"), ("🆂tudio", "Studio"),
            ("Stu\u{AD}dio", "Studio"), ("Stu\u{200D}dio", "Studio"), ("Studio\u{3164}", "Studio"),
            ("Studio\u{2800}", "Studio"), ("Ⅿac", "Mac"), ("ℓab", "lab"),
        ]
    )
    func same(one: String, other: String) {
        #expect(LookalikeName(one) == LookalikeName(other))
    }

    @Test(
        "Names that look different are not",
        arguments: [("Studio", "Studia"), ("Shed", "Shade"), ("Mac 2", "Mac 3")]
    )
    func different(one: String, other: String) {
        #expect(LookalikeName(one) != LookalikeName(other))
    }
}
