package import CompanionWire
import FoundationEssentials

/// An editor that speaks the Agent Client Protocol with any agent, and writes down what it sees. It needs Python 3.
///
/// It reads lines of JSON from standard input and does what they say, one after the other; what it sees it prints, a JSON
/// array on each line, without ids of sessions:
///
/// - `["call", METHOD, PARAMETERS]`: prints `["answer", METHOD, RESULT]` or `["error", METHOD, CODE, MESSAGE]`. `$session`
///   in the parameters is the id of the session that the last answer named.
/// - `["begin", METHOD, PARAMETERS]`: the same without waiting; `["end"]` waits for all of these.
/// - `["decide", KIND]`: answers permissions with an option of this kind; `["form", ANSWER]`: answers forms so.
/// - `["hold"]`: answers none of these any more.
/// - `["see", WORD]`: waits until something with this word was printed since the last `see`.
/// - `["notify", METHOD, PARAMETERS]`, `["raw", LINE]`.
package enum FakeEditor {
    /// - Returns: The program and its arguments, which start an agent.
    package static func command(in directory: String, agent: [String]) throws -> [String] {
        let path = directory + "/fake-editor.py"
        try Data(source.utf8).write(to: URL(filePath: path))
        return ["/usr/bin/env", "python3", path] + agent
    }

    /// What an editor saw, without the answers that go for later questions too: a host does not offer them to devices.
    package static func withoutLastingAnswers(_ seen: JSONValue) -> JSONValue {
        guard var parts = seen.array, parts.first == "request", var parameters = parts.last?.object,
            let options = parameters["options"]?.array
        else { return seen }
        parameters["options"] = .array(options.filter { $0["kind"]?.string?.hasSuffix("_always") != true })
        parts[parts.count - 1] = .object(parameters)
        return .array(parts)
    }

    private static let source = #"""
        import json, subprocess, sys, threading
        agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lock = threading.Condition(); seen = []; looked = 0; waiting = {}; count = 0; session = None
        kind = "allow_once"; form = {"action": "decline"}; holds = False
        def show(*event):
            with lock:
                seen.append(json.dumps(event))
                print(seen[-1], flush=True); lock.notify_all()
        def write(message): agent.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode()); agent.stdin.flush()
        def bare(p): return {k: v for k, v in (p or {}).items() if k != "sessionId"}
        def read():
            global session
            for line in agent.stdout:
                try: m = json.loads(line)
                except ValueError: show("noise", line.decode(errors="replace")); continue
                method, p = m.get("method"), m.get("params")
                if method is None:
                    place = waiting.pop(m.get("id"), None)
                    if place is None: show("stray", m.get("error", {}).get("code")); continue
                    name, done = place
                    if "error" in m: show("error", name, m["error"]["code"], m["error"]["message"])
                    else:
                        session = (m["result"] or {}).get("sessionId", session)
                        show("answer", name, bare(m["result"]) if isinstance(m["result"], dict) else m["result"])
                    done.set()
                elif m.get("id") is None: show("notice", method, bare(p).get("update", bare(p)))
                else:
                    show("request", method, bare(p))
                    if holds: continue
                    if method == "session/request_permission":
                        found = [o["optionId"] for o in p["options"] if o["kind"] == kind]
                        outcome = {"outcome": "selected", "optionId": found[0]} if found else {"outcome": "cancelled"}
                        write({"id": m["id"], "result": {"outcome": outcome}})
                    elif method == "elicitation/create": write({"id": m["id"], "result": form})
                    else: write({"id": m["id"], "error": {"code": -32601, "message": "unknown"}})
            show("ended")
            for _, done in list(waiting.values()): done.set()
        reader = threading.Thread(target=read, daemon=True); reader.start()
        def begin(method, parameters):
            global count
            done = threading.Event(); waiting[count] = (method, done); count += 1
            text = json.dumps(parameters).replace("$session", session or "")
            write({"id": count - 1, "method": method, "params": json.loads(text)})
            return done
        begun = []
        for line in sys.stdin:
            step = json.loads(line); word = step[0]
            if word == "call": begin(step[1], step[2]).wait()
            elif word == "begin": begun.append(begin(step[1], step[2]))
            elif word == "end":
                for done in begun: done.wait()
            elif word == "decide": kind = step[1]
            elif word == "form": form = step[1]
            elif word == "hold": holds = True
            elif word == "notify": write({"method": step[1], "params": json.loads(json.dumps(step[2]).replace("$session", session or ""))})
            elif word == "raw": agent.stdin.write(step[1].encode() + b"\n"); agent.stdin.flush()
            elif word == "see":
                with lock:
                    while not any(step[1] in s for s in seen[looked:]): lock.wait()
                    looked = 1 + next(i for i in range(looked, len(seen)) if step[1] in seen[i])
        agent.stdin.close()
        agent.wait(); reader.join()
        """#
}
