import CompanionWire
import Testing

@Suite struct UserWordTests {
    @Test("Beginnings of names are compared scalar by scalar, in any case")
    func scalars() {
        let name = "Adas-MacBook-Pro"
        #expect(UserWord("ADAS").begins(name: name) && UserWord("adas-mac").begins(name: name))
        #expect(!UserWord("").begins(name: name) && !UserWord("MacBook").begins(name: name))
        // A mark that joins the letter before it is a letter of its own here.
        #expect(UserWord("ada").begins(name: "Ada\u{301}s") && !UserWord("adas").begins(name: "Ada\u{301}s"))
    }

    @Test("Whole names are found however a letter is spelled")
    func spellings() {
        #expect(UserWord("caf\u{E9}").isName("Cafe\u{301}") && !UserWord("cafe").isName("Cafe\u{301}"))
    }

    @Test(
        "A whole id comes before a name, a name before the beginning of an id, and that before the beginning of a name",
        arguments: [
            ("garden", ["b"]), ("GARDEN", ["a"]), ("garde", ["b"]), ("Gardener", ["c"]), ("gar", ["a", "c"]),
            ("plot", ["d"]), ("plo", ["d"]), ("kitchen", ["e"]), ("kitc", ["f"]), ("kit", ["e"]), ("ee", []), ("", []),
            ("nothing", []),
        ]
    )
    func order(word: String, meant: [String]) {
        struct Item { let key, id, name, other: String }
        let items = [
            Item(key: "a", id: "1111", name: "Garden", other: "-"), Item(key: "b", id: "garden", name: "x", other: "-"),
            Item(key: "c", id: "2222", name: "Gardener", other: "Kitchen"),
            Item(key: "d", id: "3", name: "y", other: "Plot"),
            Item(key: "e", id: "eeee", name: "Kitchen", other: "-"),
            Item(key: "f", id: "kitchen9", name: "z", other: "-"),
        ]
        let found = UserWord(word).choose(
            among: items,
            ids: { [$0.id] },
            names: { [$0.name] },
            otherNames: { [$0.other] }
        )
        #expect(found.map(\.key) == meant)
    }
}
