import Testing

@testable import CompanionWire

/// Forms of agents: what a value may be, and how one is typed.
@Suite("Forms that agents ask for", .timeLimit(.minutes(15)))
struct ApprovalFormTests {
    private static func field(_ type: String = "string", _ change: (inout FormField) -> Void = { _ in }) -> FormField {
        var field = FormField("f", type: type)
        change(&field)
        return field
    }

    private static func texts(_ change: (inout FormField) -> Void) -> FormField { field("string", change) }

    private static let tags = field("array") {
        $0.choices = [.init("a", title: "First"), .init("b"), .init("c, d", title: "Last")]
        ($0.minItems, $0.maxItems) = (1, 2)
    }

    private static let answers: [(FormField, String, Result<JSONValue, FormFault>)] = [
        (field(), "x", .success("x")), (field(), " x ", .success(" x ")),
        (texts { $0.minLength = 3 }, "ab", .failure(FormFault("f", "needs at least 3 characters"))),
        (texts { $0.maxLength = 1 }, "é", .success("é")),
        (texts { $0.maxLength = 1 }, "e\u{301}", .failure(FormFault("f", "takes at most 1 characters"))),
        (texts { $0.pattern = "^[a-z]+$" }, "abc", .success("abc")),
        (texts { $0.pattern = "^[a-z]+$" }, "abc1", .failure(FormFault("f", "has to match the pattern ^[a-z]+$"))),
        (texts { $0.pattern = "[" }, "anything", .success("anything")),
        (texts { $0.format = "email" }, "a@b.example", .success("a@b.example")),
        (texts { $0.format = "email" }, "a@b@c", .failure(FormFault("f", "has to be an email address"))),
        (texts { $0.format = "email" }, "a b@c", .failure(FormFault("f", "has to be an email address"))),
        (texts { $0.format = "uri" }, "urn:x", .success("urn:x")),
        (
            texts { $0.format = "uri" }, "example.com",
            .failure(FormFault("f", "has to be a URI, such as https://example.com"))
        ),
        (texts { $0.format = "date" }, "2028-02-29", .success("2028-02-29")),
        (texts { $0.format = "date" }, "2027-02-29", .failure(FormFault("f", "has to be a date, such as 2026-01-31"))),
        (texts { $0.format = "date-time" }, "2026-01-31T23:59:60.5+01:00", .success("2026-01-31T23:59:60.5+01:00")),
        (
            texts { $0.format = "date-time" }, "2026-01-31",
            .failure(FormFault("f", "has to be a date and time, such as 2026-01-31T12:00:00Z"))
        ),
        (texts { $0.format = "unheard-of" }, "x", .success("x")),
        (field("integer"), " 7 ", .success(7)), (field("integer"), "-7", .success(-7)),
        (field("integer"), "7.5", .failure(FormFault("f", "has to be a whole number"))),
        (field("integer") { $0.minimum = 8 }, "7", .failure(FormFault("f", "has to be at least 8"))),
        (field("number"), "7.5", .success(.number(7.5))), (field("number"), "7", .success(7)),
        (field("number") { $0.maximum = 7.25 }, "7.5", .failure(FormFault("f", "has to be at most 7.25"))),
        (field("number"), "nan", .failure(FormFault("f", "has to be a number"))),
        (field("number"), "1e999", .failure(FormFault("f", "has to be a number"))),
        (field("boolean"), "Yes", .success(true)), (field("boolean"), "false", .success(false)),
        (field("boolean"), "perhaps", .failure(FormFault("f", "has to be yes or no"))),
        (texts { $0.choices = [.init("a"), .init("x", title: "Two")] }, "2", .success("x")),
        (texts { $0.choices = [.init("x"), .init("1")] }, "1", .success("1")),
        (texts { $0.choices = [.init("x", title: "Two")] }, "Two", .success("x")),
        (texts { $0.choices = [.init("x"), .init("y")] }, "z", .failure(FormFault("f", "has to be one of x, y"))),
        (tags, "First, 2", .success(["a", "b"])), (tags, "c, d", .success(["c, d"])),
        (tags, "1,2,3", .failure(FormFault("f", "takes at most 2 values"))),
        (tags, "", .failure(FormFault("f", "needs at least 1 values"))),
        (tags, "a,a", .failure(FormFault("f", "has a value twice"))),
        (tags, "z", .failure(FormFault("f", "has to have any of a, b, c, d"))),
        (field("array"), "free", .success("free")), (field("thing"), "free", .success("free")),
    ]

    @Test("What is typed becomes a value of the field's type, or a sentence says what is wrong", arguments: answers)
    func typed(field: FormField, text: String, expected: Result<JSONValue, FormFault>) {
        do throws(FormFault) {
            let value = try field.value(typed: text)
            guard case .success(let wanted) = expected else {
                Issue.record("\(value)")
                return
            }
            #expect(value.json == wanted.json)
            // As it is shown, it can be typed again.
            #expect((try? field.value(typed: field.typed(value)))?.json == value.json)
        } catch {
            #expect(expected == .failure(error))
        }
    }

    @Test("All mistakes of an answer are told at once, in the order of the form")
    func faults() {
        var name = FormField("name", type: "string", isRequired: true)
        name.maxLength = 3
        let form = ApprovalForm(
            fields: [name, FormField("count", type: "integer", isRequired: true), FormField("note", type: "string")]
        )
        let error = #expect(throws: FormFaults.self) { try form.checked(["name": "four", "other": 1, "note": .null]) }
        #expect(
            error?.description
                == "“other” is no field of the form; “name” takes at most 3 characters; “count” is required"
        )
        #expect((try? form.checked(["name": "x", "count": "7"])) == ["name": "x", "count": 7])
        let long = JSONValue.string(String(repeating: "x", count: ApprovalForm.mostBytes))
        #expect(throws: FormFaults.self) { try form.checked(["name": "x", "count": 1, "note": long]) }
    }

    @Test("A value has to have the type of its field, also from a device that sends anything")
    func types() {
        let wrong: [(FormField, JSONValue)] = [
            (Self.field(), 1), (Self.field(), ["x"]), (Self.field("integer"), true),
            (Self.field("integer"), .number(1.5)),
            (Self.field("number"), "x"), (Self.field("boolean"), "true"), (Self.tags, "a"), (Self.tags, [1]),
            (Self.texts { $0.choices = [.init("x")] }, "X"), (Self.field("thing"), ["x": 1]),
        ]
        for (field, value) in wrong {
            #expect(throws: FormFault.self, "\(field.type) \(value)") { try field.checked(value) }
        }
    }

    @Test(
        "A pattern that would never come to its end is left to the agent",
        arguments: ["^(a+)+$", "^(a|a)*[bc]", "(?:a|a){14}[bc]", #"\X*+[bc]"#, "[^bc]*+[bc]"],
        [4000, 60_000]
    )
    func endless(pattern: String, length: Int) throws {
        let text = String(repeating: "a", count: length) + "!"
        #expect(try Self.texts { $0.pattern = pattern }.checked(.string(text)) == .string(text))
    }

    @Test("Where values are numbers, no choice has another number; lists with commas can be typed again")
    func numbers() throws {
        let field = Self.texts { $0.choices = [.init("2", title: "Keep"), .init("1", title: "Delete")] }
        #expect(field.choiceLines == ["- Keep [2]", "- Delete [1]"])
        #expect(try field.value(typed: "1") == "1" && field.shown("1") == "Delete")
        let list = Self.field("array") { $0.choices = [.init("a"), .init("b"), .init("a, b")] }
        #expect(list.typed(["a", "b"]) == "1, 2" && list.shown(["a", "b"]) == "a, b")
        #expect(try list.value(typed: "1, 2") == ["a", "b"])
        let large = Self.field("integer") { $0.maximum = 9_007_199_254_740_992 }
        #expect(throws: FormFault.self) { try large.checked(.integer(9_007_199_254_740_993)) }
        #expect(throws: FormFault.self) { try Self.field("number").checked("0x10") }
    }

    @Test("The order of a form's fields is kept")
    func order() throws {
        let json = #"{"b":{"properties":{"z":{"properties":{"y":1,"x":2}},"a":2,"m":{"b":1,"a":2}}}}"#
        let value = try #require(JSONValue(lenient: Array(json.utf8), ordering: "properties"))
        let inner: JSONValue = ["properties": [["y", 1], ["x", 2]]]
        #expect(value["b"]?["properties"] == [["z", inner], ["a", 2], ["m", ["a": 2, "b": 1]]])
    }

    @Test(
        "The address of a page has a server that a person can read",
        arguments: [
            ("https://example.com", "example.com"), ("HTTPS://Example.com:8443/a?b#c", "example.com:8443"),
            ("http://[::1]:80/", "[::1]:80"), ("https://example.com/\\@evil", "example.com"),
        ]
    )
    func link(url: String, server: String) { #expect(PageLink(url)?.server == server) }

    @Test(
        "Other addresses are none",
        arguments: [
            "javascript:alert(1)", "file:///etc/passwd", "https://bank.example@evil.example/", "https://", "https:///x",
            "https://exämple.com", "https://a\u{7}b", "https://a b", "https://evil.example\\@bank.example",
            "https://a/" + String(repeating: "x", count: 5000),
        ]
    )
    func noLink(url: String) { #expect(PageLink(url) == nil) }
}
