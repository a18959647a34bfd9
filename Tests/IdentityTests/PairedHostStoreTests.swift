import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Testing

@Suite struct PairedHostStoreTests {
    private func host(_ id: String, _ name: String) throws -> PairedHost {
        PairedHost(
            id: id,
            name: name,
            family: .copilotforge,
            trust: .legacy,
            endpoint: try #require(CompanionEndpoint("[fe80::1%eth0]:7878")),
            deviceID: "0123456789abcdef",
            pairedAt: Date(timeIntervalSince1970: 1_795_253_400)
        )
    }

    @Test("Records survive, private to their owner; the first host becomes the default")
    func recordAndLoad() throws {
        try withTemporaryDirectory { directory in
            let store = PairedHostStore(directory: directory + "/data")
            let studio = try host("aaaa000000000000", "Studio")
            try store.update { $0.record(studio) }
            try store.update { $0.record(try host("bbbb000000000000", "Mini")) }
            let loaded = try PairedHostStore(directory: directory + "/data").load()
            #expect(loaded.hosts.map(\.name) == ["Studio", "Mini"])
            #expect(loaded.defaultHost == studio)
            #expect(try mode(store.path) == 0o600)
        }
    }

    @Test("Forgetting the default leaves the only other host as default, and none of several")
    func forget() throws {
        var hosts = PairedHosts()
        for (id, name) in [("aaaa1", "A"), ("bbbb1", "B"), ("cccc1", "C")] { hosts.record(try host(id, name)) }
        hosts.forget("aaaa1")
        #expect(hosts.defaultHost == nil)
        hosts.forget("bbbb1")
        hosts.record(try host("cccc1", "C"))
        #expect(hosts.defaultHost?.name == "C")
    }

    @Test(
        "Hosts are named by id, name, and prefixes of both",
        arguments: [
            ("aaaa000000000000", ["Studio"]), ("studio", ["Studio"]), ("aaaa", ["Studio", "Studio B"]),
            ("aaaa0", ["Studio"]),
            ("aaa", []), ("stu", ["Studio", "Studio B"]), ("mini", ["Mini"]), ("", []), ("nothing", []),
        ]
    )
    func matching(word: String, names: [String]) throws {
        var hosts = PairedHosts()
        hosts.record(try host("aaaa000000000000", "Studio"))
        hosts.record(try host("aaaab00000000000", "Studio B"))
        hosts.record(try host("cccc000000000000", "Mini"))
        #expect(hosts.matching(word).map(\.name) == names)
    }

    @Test("Secrets and sessions that a newer version wrote are left as they are")
    func newer() throws {
        try withTemporaryDirectory { directory in
            let content = Data(#"{"version":2,"secrets":{"aaaa":"old"},"sessions":{}}"#.utf8)
            let secrets = HostSecretStore(directory: directory)
            let sessions = SessionTokenStore(directory: directory)
            for path in [secrets.path, sessions.path] { try content.write(to: URL(filePath: path)) }
            let grant = SessionGrant(token: "token", expiresAt: .distantFuture)
            for refused in [
                { try secrets.keep("new", hostID: "aaaa") }, { _ = try secrets.load(hostID: "aaaa") },
                { try sessions.keep(grant, hostID: "aaaa") }, { try sessions.forget(hostID: "aaaa") },
                { _ = try sessions.token(hostID: "aaaa") }, { try sessions.check() },
            ] as [() throws -> Void] {
                #expect(throws: RecordFileError.self) { try refused() }
            }
            for path in [secrets.path, sessions.path] { #expect(try Data(contentsOf: URL(filePath: path)) == content) }
        }
    }

    @Test("A session is kept until the host says that it is over: this machine's clock may be ahead")
    func clockAhead() throws {
        try withTemporaryDirectory { directory in
            let sessions = SessionTokenStore(directory: directory)
            try sessions.keep(SessionGrant(token: "token", expiresAt: .distantPast), hostID: "aaaa")
            #expect(try sessions.token(hostID: "aaaa") == "token")
        }
    }

    @Test("Damaged sessions count as none, damaged secrets do not")
    func damagedSessions() throws {
        try withTemporaryDirectory { directory in
            let (secrets, sessions) = (HostSecretStore(directory: directory), SessionTokenStore(directory: directory))
            for path in [secrets.path, sessions.path] { try Data("{".utf8).write(to: URL(filePath: path)) }
            #expect(throws: RecordFileError.self) { try secrets.keep("new", hostID: "aaaa") }
            #expect(try sessions.token(hostID: "aaaa") == nil)
            try sessions.keep(SessionGrant(token: "token", expiresAt: .distantFuture), hostID: "aaaa")
            #expect(try sessions.token(hostID: "aaaa") == "token")
        }
    }
}
