import Testing

@testable import Terminal

/// Facts about one thing, beneath each other.
struct FactListTests {
    @Test("Values stand in one column, what is not known has no line, and a long value is wrapped beside its label")
    func column() {
        var facts: FactList = [
            "host": "Shed", "until": nil, "reachable": "no: nobody answers at this address of the garden",
        ]
        facts.add("note", "a\u{1B}[31m\nb")
        #expect(
            facts.text(columns: 51) == """
                host       Shed
                reachable  no: nobody answers at this address of
                           the garden
                note       a␛[31m b
                """
        )
        #expect(facts.text(indent: 2).hasPrefix("  host       Shed\n  reachable  no: "))
    }

    @Test("In a narrow window, an id stays in one piece")
    func narrow() {
        let facts: FactList = ["id": "0684289f-3a13-4338-a3be-cd259610938b", "reachable": "yes"]
        let text = """
            id
              0684289f-3a13-4338-a3be-cd259610938b
            reachable  yes
            """
        #expect(facts.text(columns: 40) == text)
    }
}
