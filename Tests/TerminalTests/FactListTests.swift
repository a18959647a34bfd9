import Testing

@testable import Terminal

/// Facts about one thing, beneath each other.
struct FactListTests {
    @Test("Values stand in one column, what is not known has no line, and a long value is wrapped beside its label")
    func column() {
        var facts: FactList = ["host": "Shed", "until": nil, "reachable": "no: nobody answers at this address"]
        facts.add("note", "a\u{1B}[31m\nb")
        #expect(
            facts.text(columns: 30) == """
                host       Shed
                reachable  no: nobody answers
                           at this address
                note       a␛[31m b
                """
        )
        #expect(facts.text(indent: 2).hasPrefix("  host       Shed\n  reachable  no: "))
    }
}
