import CompanionWire
import Testing

@testable import CompanionApp
@testable import pairtool

@Suite("The tools that are allowed beforehand") struct AllowedToolsTests {
    @Test(
        "The name of a kind allows that kind, and no tool that only has it as its title",
        arguments: ToolReport.kinds
    )
    func kinds(kind: String) {
        let allowed = AllowedTools([kind])
        #expect(allowed.covers(kind: kind, title: "Do it"))
        #expect(!allowed.covers(kind: "", title: kind))
        #expect(!allowed.covers(kind: "unheard_of", title: kind))
    }

    @Test("Another name allows the tool of that title, and no name allows all of them")
    func titles() {
        #expect(AllowedTools(["read_file"]).covers(kind: "execute", title: "read_file"))
        #expect(!AllowedTools(["read_file"]).covers(kind: "read", title: "Read_file"))
        #expect(AllowedTools(nil).covers(kind: "execute", title: "rm"))
        #expect(!AllowedTools([]).covers(kind: "read", title: "read"))
    }
}
