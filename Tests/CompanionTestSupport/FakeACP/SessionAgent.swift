import FoundationEssentials
import Glibc

/// An agent that keeps its sessions as files, one for each, like those that people also use in a terminal: the test plays
/// that terminal. It needs Python 3.
package struct SessionAgent: Sendable {
    /// The directory with its sessions.
    package let directory: String
    /// The program and its arguments.
    package let command: [String]

    /// - Parameter options: `load`, `resume`; `no-list`: does not list; `locks`: refuses sessions that are open; `slow`:
    ///   answers `session/list` once ``go()`` was called.
    package init(in directory: String, _ options: [String]) throws {
        self.directory = directory + "/sessions"
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        let path = directory + "/session-agent.py"
        try Data(Self.source.utf8).write(to: URL(filePath: path))
        command = ["/usr/bin/env", "python3", path, directory] + options
        if options.contains("slow"), mkfifo(directory + "/go", 0o600) != 0 { throw CancellationError() }
    }

    /// Lets an agent that is slow answer.
    package func go() throws {
        guard let pipe = fopen(directory + "/../go", "w") else { throw CancellationError() }
        fclose(pipe)
    }

    /// A session as its file has it.
    package struct Session: Codable, Sendable {
        package var cwd: String
        package var title: String?
        package var updatedAt: String?
        /// Role and text of each message.
        package var messages: [[String]]
        /// Whether the agent says that it is open in a terminal.
        package var open: Bool?

        package init(
            cwd: String,
            title: String? = nil,
            updatedAt: String? = nil,
            messages: [[String]] = [],
            open: Bool? = nil
        ) {
            (self.cwd, self.title, self.updatedAt, self.messages, self.open) = (cwd, title, updatedAt, messages, open)
        }
    }

    private func path(_ id: String) -> String { "\(directory)/\(id).json" }

    package func session(_ id: String) throws -> Session {
        try JSONDecoder().decode(Session.self, from: Data(contentsOf: URL(filePath: path(id))))
    }

    package func write(_ session: Session, as id: String) throws {
        try JSONEncoder().encode(session).write(to: URL(filePath: path(id)), options: .atomic)
    }

    /// The ids of all sessions.
    package func ids() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).compactMap { $0.split(separator: ".").first }
            .map(String.init).sorted()
    }

    private static let source = #"""
        import datetime, json, os, sys
        state, options = sys.argv[1], set(sys.argv[2:])
        def path(id): return f"{state}/sessions/{id}.json"
        def send(m): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **m}) + "\n"); sys.stdout.flush()
        def update(session, kind, text, id=None):
            send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **({"messageId": id} if id else {})}}})
        def stored(id): return json.load(open(path(id)))
        def store(id, session):
            session["updatedAt"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
            with open(path(id) + "~", "w") as file: json.dump(session, file)
            os.rename(path(id) + "~", path(id))
        here = {}
        for line in sys.stdin:
            message = json.loads(line); method = message.get("method"); id = message.get("id"); p = message.get("params") or {}
            session = p.get("sessionId")
            with open(f"{state}/calls", "a") as calls: calls.write(f"{method}\n")
            if method == "initialize":
                able = {} if "no-list" in options else {"list": {}}
                if "resume" in options: able["resume"] = {}
                send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": "load" in options, "sessionCapabilities": able}}})
            elif method == "session/list":
                if "slow" in options: options.remove("slow"); open(f"{state}/go").read()
                ids = sorted(f[:-5] for f in os.listdir(f"{state}/sessions") if f.endswith(".json"))
                start = int(p.get("cursor", 0)); sessions = []
                for name in ids[start:start + 100]:
                    s = stored(name)
                    sessions.append({"sessionId": name, "cwd": s["cwd"], "title": s.get("title"), "updatedAt": s.get("updatedAt"), "_meta": {"terminal.example": {"isOpen": bool(s.get("open"))}}})
                send({"id": id, "result": {"sessions": sessions, **({"nextCursor": str(start + 100)} if start + 100 < len(ids) else {})}})
            elif method == "session/new":
                name = f"new-{os.getpid()}-{len(here)}"; here[name] = []
                store(name, {"cwd": p["cwd"], "title": "Begun here", "messages": []})
                send({"id": id, "result": {"sessionId": name}})
            elif method in ("session/load", "session/resume"):
                if not os.path.exists(path(session)): send({"id": id, "error": {"code": -32002, "message": "no such session"}}); continue
                s = stored(session)
                if "locks" in options and s.get("open"): send({"id": id, "error": {"code": -32603, "message": "it is open in another terminal"}}); continue
                here[session] = s["messages"]
                for number, (role, text) in enumerate(s["messages"]):
                    half = len(text) // 2
                    if method == "session/load":
                        for piece in (text[:half], text[half:]): update(session, "user_message_chunk" if role == "user" else "agent_message_chunk", piece, f"m-{number}")
                send({"id": id, "result": {}})
            elif method == "session/prompt":
                if session not in here: send({"id": id, "error": {"code": -32002, "message": "no such session"}}); continue
                text = p["prompt"][0]["text"]; known = here[session]
                reply = f"{len(known)} before, the last: {known[-1][1] if known else 'none'}"
                update(session, "agent_message_chunk", reply)
                known += [["user", text], ["assistant", reply]]
                s = stored(session); s["messages"] = known; store(session, s)
                send({"id": id, "result": {"stopReason": "end_turn"}})
            elif id is not None: send({"id": id, "error": {"code": -32601, "message": "unknown"}})
        """#
}
