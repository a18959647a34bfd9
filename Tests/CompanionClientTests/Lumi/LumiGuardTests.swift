import Testing

@testable import CompanionClient

/// What a Mac would run as part of a script never becomes a value that can be sent.
@Suite struct LumiGuardTests {
    @Test(arguments: [
        "", "101", "-1", "+5", "1e2", "50 ", "0x10", "50\" with output muted", "50; rm -rf ~", "٥", "50%%", "%", "1000",
    ])
    func `what is no level is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiLevel(text) }
    }

    @Test func `levels are numbers with a point, whatever the locale`() throws {
        let fractions = try ["0", "7", "25%", "100"].map { try LumiLevel($0).fraction }
        #expect(fractions == ["0.00", "0.07", "0.25", "1.0"])
    }

    @Test(arguments: [
        "", "ftp://example.org", "file:///etc/passwd", "javascript:alert(1)", "https://", "https:///path",
        "http://a\"; rm -rf ~; \"", "http://a/$(id)", "http://a/`id`", "http://a/'x'", "http://a/\\", "http://a/ b",
        "http://a/\nb", "http://a/é", "http://a/\u{202E}b", "http://user@evil", "http://-a", "http://a/;b",
        "http://a/|b", "x-apple.systempreferences:",
    ])
    func `what is no web address, or more than one, is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiURL(text) }
    }

    @Test(arguments: [
        "https://example.org", "HTTP://example.org:8080/a/b?c=d&e=f#g", "http://[fd00::1]/", "https://a/%22%24",
    ])
    func `web addresses are taken as they are`(_ text: String) throws {
        #expect(try LumiURL(text).text == text)
    }

    @Test(arguments: [
        "", " Mail", "-e", "Music\" to quit\ntell application \"Finder", "$(id)", "`id`", "a\\b", "a'b", "a;b", "a|b",
        "../../bin/sh", "/Applications/Mail.app", "a\u{202E}b", "a\u{1B}[31m", "a&b",
        String(repeating: "a", count: 129),
    ])
    func `what is no name of an application is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiAppName(text) }
    }

    @Test(arguments: ["Mail", "Visual Studio Code", "1Password 7", "com.apple.Safari", "Übersicht", "微信", "Notepad++"])
    func `names of applications are taken`(_ text: String) throws {
        #expect(try LumiAppName(text).text == text)
    }

    @Test(arguments: [
        "a\"b", "a\\", "a\nb", "a\u{7}", "a\u{7F}", "a\u{9B}31m", "a\"\u{200D}b", "a\\\u{301}b", "\u{600}\"b",
        "\u{600}\\b",
    ])
    func `what would end the quotes of a notification is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiNotificationText(text) }
    }

    @Test(arguments: [
        "", "nonsense", "command+", "+a", "hyper+a", "command+command+a", "ab", "f13", "return\" & \"", "é",
    ])
    func `an unknown key is refused: a Mac would press Return`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiKeys(text) }
    }

    @Test(arguments: ["", " \n", "a\0b"])
    func `what is no script is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiScript(text) }
    }

    @Test(arguments: ["", "a\u{1B}[2J", "a\0"])
    func `what no keyboard types is refused`(_ text: String) {
        #expect(throws: LumiInputError.self) { try LumiTypedText(text) }
    }

    @Test func `places beyond any screen are refused`() {
        #expect(throws: LumiInputError.self) { try LumiPoint(x: 100_001, y: 0) }
        #expect(throws: LumiInputError.self) { try LumiPoint(x: 0, y: .min) }
    }
}
