import FoundationEssentials
import Testing

/// A machine that loses its power while a host and a companion work.
@Suite(.timeLimit(.minutes(15)))
struct PowerCutTests {
    private static let support =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Tests/Support"

    @Test(
        "Whenever the power is cut, nothing is lost that was said: pairings, rights, chats, rules and waiting prompts"
    )
    func everyMoment() async throws {
        try await Sandbox.with { user in
            let shim = "cc -shared -fPIC -o cut.so '\(Self.support)/power_cut.c' -ldl"
            let made = try await user.shell("\(shim) || clang \(shim.dropFirst(3))")
            #expect(made.status == 0, "\(made.err)")
            let result = try await user.shell(
                "python3 '\(Self.support)/power_cut.py' '\(BuiltTool.path)' \"$PWD/cut.so\""
            )
            #expect(result.status == 0, "\(result.out)\(result.err)")
            // Disks that differ, each with all that was said by then.
            let disks = try #require(result.out.firstMatch(of: /"disks": ([0-9]+)/).flatMap { Int($0.output.1) })
            #expect(disks > 50, "\(result.out)")
        }
    }
}
