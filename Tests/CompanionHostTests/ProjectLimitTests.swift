import CompanionHost
import CompanionWire
import FoundationEssentials
import Testing

@Suite("What the project explorer does not see, it says", .timeLimit(.minutes(15)))
struct ProjectLimitTests {
    @Test("Of a directory with more than 5,000 entries nobody says that all was seen")
    func manyEntries() async throws {
        try await withHost { host in
            try await host.pair()
            try await shell("mkdir '\(host.project)/many' && cd '\(host.project)/many' && seq 5001 | xargs touch")
            let list = try await host.ask("list many")
            #expect(list.answer.contains("… and at least 4500 more"))
            #expect(list.body.contains(#""details":"at least 5000 entries""#))
            for prompt in ["find nothing-like-this", "search nothing"] {
                let answer = try await host.ask(prompt).answer
                #expect(answer.contains("not everything was searched"), "\(prompt)")
                let notices = ["Nothing searched has such a name.", "No match in the lines searched."]
                #expect(notices.contains { answer.contains($0) }, "\(prompt)")
            }
            #expect(try await host.ask("what is this?").answer.contains("at least 5000 files"))
            try await shell("rm '\(host.project)/many/1'")
            #expect(try await host.ask("list many").answer.contains("… and 4500 more"))
            for prompt in ["find nothing-like-this", "search nothing"] {
                let answer = try await host.ask(prompt).answer
                #expect(!answer.contains("searched"), "\(prompt)")
            }
        }
    }

    @Test("Names that are not UTF-8 are shown repaired; what cannot be opened by them is mentioned")
    func brokenNames() async throws {
        try await withHost { host in
            try await host.pair()
            try await shell(#"cd '\#(host.project)' && printf text >"$(printf 'caf\351.txt')""#)
            #expect(try await host.ask("list").answer == "```\ncaf\u{fffd}.txt  4 B\n```\n")
            #expect(try await host.ask("find .txt").answer == "```\ncaf\u{fffd}.txt\n```\n")
            #expect(try await host.ask("search text").answer.contains("1 files were skipped"))
            try await shell(#"cd '\#(host.project)' && mkdir "$(printf 'd\377')""#)
            #expect(try await host.ask("list").answer.contains("d\u{fffd}/\n"))
            #expect(try await host.ask("find nothing").answer.contains("not everything was searched"))
        }
    }

    @Test("Files too large to search are mentioned, and so is a text too long to search for")
    func large() async throws {
        try await withHost { host in
            try await host.pair()
            try await shell("head -c 2097153 /dev/zero >'\(host.project)/large'")
            #expect(try await host.ask("search x").answer.contains("1 files were skipped: over 2 MiB"))
            #expect(
                try await host.ask("search " + String(repeating: "a", count: 1001)).answer.contains("over 1000 bytes")
            )
        }
    }

    @Test(
        "A repository that leads git out of the project is not read",
        arguments: [
            "echo ../../outside/.git >.git/commondir", "echo /nonexistent >.git/objects/info/alternates",
            "mv .git/objects ../objects && ln -s ../../objects .git/objects",
            "mv .git/refs refs && ln -s ../refs .git/refs",
            "mv .git/HEAD ../HEAD && ln -s ../../HEAD .git/HEAD",
            "mv .git/config ../config && ln -s ../../config .git/config",
            "git pack-refs --all && mv .git/packed-refs .. && ln -s ../../packed-refs .git/packed-refs",
            "git gc -q && mv .git/objects/pack .. && ln -s ../../../pack .git/objects/pack",
            "mv .git/objects/info .. && ln -s ../../../info .git/objects/info",
            "ln -s nowhere .git/objects/info/alternates",
        ]
    )
    func repository(change: String) async throws {
        try await withHost { host in
            try await host.pair()
            let make = "git init -q . && git -c user.name=N -c user.email=e@x commit -q --allow-empty -m 'First one'"
            try await shell("cd '\(host.project)' && \(make)")
            #expect(try await host.ask("log").answer.contains("First one"))
            try await shell("cd '\(host.project)' && \(change)")
            let reply = try await host.ask("log")
            #expect(reply.answer.hasPrefix("This repository is not read: "), "\(reply.body)")
            #expect(!reply.body.contains("First one"))
        }
    }

    @Test("A HEAD that is a link inside the repository is read; a bare repository in place of a broken one is not")
    func links() async throws {
        try await withHost { host in
            try await host.pair()
            let commit = "git -c user.name=N -c user.email=e@x commit -q --allow-empty -m 'First one'"
            try await shell(
                "cd '\(host.project)' && git init -q -b main . && \(commit) && ln -sf refs/heads/main .git/HEAD"
            )
            #expect(try await host.ask("log").answer.contains("First one"))
            try await shell("cd '\(host.project)' && cp -r .git/. . && rm .git/HEAD")
            let bare = try await host.ask("log")
            #expect(bare.answer.contains("Git cannot read this repository"), "\(bare.body)")
        }
    }
}
