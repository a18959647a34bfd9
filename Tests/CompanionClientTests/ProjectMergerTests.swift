import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct ProjectMergerTests {
    private func project(_ id: String, _ path: String, _ age: Double = 0, name: String = "n") -> CompanionProject {
        CompanionProject(id: id, name: name, localPath: path, lastUpdatedAt: FakeMacScript.epoch - age)
    }

    @Test func `projects of one path become one, the newest stands for all`() {
        let merged = ProjectMerger.merge([project("a", "/x", 60), project("b", "/y"), project("c", "/x/", 0)])
        #expect(merged.map(\.ids) == [["c", "a"], ["b"]])
        #expect(merged.map(\.project.id) == ["c", "b"])
    }

    @Test func `an older entry lends its name to a newer one without`() {
        let merged = ProjectMerger.merge([project("a", "/x", 60, name: "web"), project("b", "/x", name: "")])
        #expect(merged.map(\.project.name) == ["web"])
    }

    @Test func `the name is the directory's own where there is such an entry, else the first, whatever is newest`() {
        for ages in [(0.0, 60.0), (60.0, 0.0)] {
            let entries = [project("a", "/srv/x", ages.0, name: "x"), project("b", "/srv/x", ages.1, name: "alpha")]
            #expect(ProjectMerger.merge(entries).map(\.project.name) == ["x"])
            #expect(ProjectMerger.merge(entries).map(\.otherNames) == [["alpha"]])
            let others = [project("a", "/srv/x", ages.0, name: "c"), project("b", "/srv/x", ages.1, name: "b")]
            #expect(ProjectMerger.merge(others).map(\.project.name) == ["b"])
        }
    }

    @Test func `entries of the same age are in the same order, whichever the host lists first`() {
        let entries = [project("b", "/x"), project("a", "/x"), project("c", "/x")]
        #expect(ProjectMerger.merge(entries).map(\.ids) == [["a", "b", "c"]])
        #expect(ProjectMerger.merge(entries.reversed()).map(\.ids) == [["a", "b", "c"]])
    }

    @Test func `directories whose names look the same stay apart`() {
        let entries = [project("a", "/caf\u{E9}"), project("b", "/cafe\u{301}"), project("c", "/x\u{600}/")]
        #expect(ProjectMerger.merge(entries + [project("d", "/x\u{600}")]).map(\.ids) == [["a"], ["b"], ["c", "d"]])
    }

    @Test func `projects without a path stay apart, and an id counts once`() {
        let merged = ProjectMerger.merge([project("a", ""), project("b", ""), project("a", "/x"), project("a", "/x")])
        #expect(merged.map(\.ids) == [["a"], ["b"], ["a"]])
    }

    @Test func `the root directory is a directory`() {
        #expect(ProjectMerger.merge([project("a", "/"), project("b", "")]).count == 2)
    }

    @Test func `an empty catch-all is hidden, one with chats is not`() async throws {
        try await withPeers { mac, client async throws in
            let projects = try await client.mergedProjects()
            #expect(projects.map(\.id) == ["p-web", "p-api"])
            #expect(try await client.chats(of: projects[0]).map(\.id) == ["c-login", "c-cors"])
            mac.change {
                $0.chats.append(CompanionChat(id: "g", projectId: "default-project", title: "t", lastUpdatedAt: nil))
            }
            #expect(try await client.mergedProjects().map(\.id) == ["p-web", "p-api", "default-project"])
        }
    }

    @Test func `chats of merged projects whose ids only look the same are two`() async throws {
        try await withPeers { mac, client async throws in
            mac.change {
                for (id, project) in [("caf\u{E9}", "p-web"), ("cafe\u{301}", "p-web-2")] {
                    $0.chats.append(CompanionChat(id: id, projectId: project, title: "t", lastUpdatedAt: nil))
                }
            }
            let projects = try await client.mergedProjects()
            #expect(try await client.chats(of: projects[0]).count == 4)
        }
    }
}
