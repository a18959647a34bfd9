import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionApp

@Suite("Paths of an editor and of a host", .timeLimit(.minutes(15)))
struct EditorPathsTests {
    private let paths = EditorPaths(local: "/home/ada/garden/", remote: "/srv/garden")

    @Test(
        "Whole components are mapped, and nothing leaves the project",
        arguments: [
            ("/home/ada/garden", "/srv/garden"), ("/home/ada/garden/a/b.txt", "/srv/garden/a/b.txt"),
            ("/home/ada/garden//a/../b", "/srv/garden/b"), ("/home/ada/gardens/a", nil),
            ("/home/ada/garden/../secret", nil), ("/etc/hostname", nil), ("/home/ada/Garden/a", nil),
        ]
    )
    func toHost(local: String, remote: String?) {
        #expect(paths.toHost(local) == remote)
        if let remote { #expect(paths.toEditor(remote) == EditorPaths.normal(local)) }
    }

    @Test("Addresses of files are mapped both ways, with what stands behind them, and other addresses stay")
    func addresses() {
        func block(_ uri: String) -> JSONValue { ["type": "resource_link", "name": "x", "uri": .string(uri)] }
        for (local, remote) in [
            ("file:///home/ada/garden/a%20b.txt#L5:15", "file:///srv/garden/a%20b.txt#L5:15"),
            ("file:///home/ada/garden/%C3%A9", "file:///srv/garden/%C3%A9"),
        ] {
            #expect(paths.blockForHost(block(local)) == block(remote))
            let update: JSONValue = ["sessionUpdate": "agent_message_chunk", "content": block(remote)]
            #expect(paths.forEditor(update)["content"] == block(local))
        }
        for other in ["https://example.org/srv/garden", "zed:///agent", "file:///etc/%2e%2e/x", "file://host/x"] {
            #expect(paths.blockForHost(block(other)) == block(other))
        }
        let file: JSONValue = ["type": "resource", "resource": ["uri": "file:///home/ada/garden/a", "text": "x"]]
        #expect(paths.blockForHost(file)["resource"]?["uri"] == "file:///srv/garden/a")
    }

    @Test("Places outside of the project are left out; a terminal of the agent becomes text")
    func updates() {
        let update: JSONValue = [
            "sessionUpdate": "tool_call_update", "toolCallId": "1",
            "locations": [["path": "a.txt", "line": 3], ["path": "/etc/passwd"], ["path": "../b"]],
            "content": [
                ["type": "diff", "path": "/srv/garden/a.txt", "oldText": .null, "newText": "x"],
                ["type": "terminal", "terminalId": "t"],
            ],
        ]
        let mapped = paths.forEditor(update)
        #expect(mapped["locations"] == [["path": "/home/ada/garden/a.txt", "line": 3]])
        #expect(mapped["content"]?.array?.first == ["type": "diff", "path": "/home/ada/garden/a.txt", "newText": "x"])
        #expect(mapped["content"]?.array?.last?["type"] == "content")
    }

    @Test("Behind a symbolic link, paths are those that the editor writes")
    func linked() async throws {
        try await Sandbox.with { user in
            let real = EditorPaths.real(user.directory)
            try FileManager.default.createDirectory(
                atPath: real + "/data/garden/beds",
                withIntermediateDirectories: true
            )
            try FileManager.default.createSymbolicLink(atPath: real + "/src", withDestinationPath: real + "/data")
            let project = MergedProject(
                project: CompanionProject(id: "1", name: "garden", localPath: "/srv/garden", lastUpdatedAt: nil),
                ids: ["1"]
            )
            let entry = EditorProjects.Entry(local: real + "/data/garden", host: "h", project: "/srv/garden")
            for (directory, local) in [("/src/garden/beds", "/src/garden"), ("/data/garden", "/data/garden")] {
                let found = try EditorProject.find(
                    at: real + directory,
                    named: nil,
                    in: [project],
                    known: [entry],
                    hostID: "h",
                    hostName: "Shed",
                    home: "/home/gardener"
                )
                #expect(found.paths == EditorPaths(local: real + local, remote: "/srv/garden"))
            }
        }
    }
}
