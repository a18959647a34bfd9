import FoundationEssentials

/// A program that speaks the Agent Client Protocol and does what its prompts say: for what real agents do not do on
/// request. It needs Python 3.
package enum FakeACPAgent {
    /// Writes the program.
    ///
    /// - Returns: The program and its arguments.
    package static func command(in directory: String, _ options: String...) throws -> [String] {
        let path = directory + "/fake-agent.py"
        try Data(source.utf8).write(to: URL(filePath: path))
        return ["/usr/bin/env", "python3", path, directory] + options
    }

    /// Writes a program that plays a recorded session whenever it is started, beside a child that would stay. The ids of
    /// both are in the file `processes`. A number in the file `death` ends the next process, once it is through with so
    /// many lines, with status 10 and as many.
    ///
    /// - Parameter lines: The lines that the agent writes; for an empty one it reads a line.
    /// - Returns: The program and its arguments.
    package static func playing(_ lines: [String], in directory: String) throws -> [String] {
        let path = directory + "/recorded-agent.sh"
        try Data(player.utf8).write(to: URL(filePath: path))
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: directory + "/session"))
        return ["/bin/sh", path, directory]
    }

    private static let player = #"""
        tail -f /dev/null </dev/null &
        echo "$$ $!" >>"$1/processes"
        death=none
        if [ -e "$1/death" ]; then read -r death <"$1/death"; rm "$1/death"; fi
        count=0
        step() {
            if [ "$count" = "$death" ]; then exit $((10 + count)); fi
            count=$((count + 1))
        }
        step
        while IFS= read -r line <&3; do
            if [ -n "$line" ]; then printf '%s\n' "$line"; else read -r heard || exit 0; fi
            step
        done 3<"$1/session"
        while read -r heard; do :; done
        """#

    /// Options: `titles`: prints escape sequences and text in front of each message; `text-ids`: sends the ids of
    /// requests back as texts; `load`, `resume`, `string-ids`, `sign-in`, `modes`, `yolo`, `stuck-yolo`, `greets`, `silent`, `version-2`,
    /// `no-start`, `gibberish`, `no-session`, `deaf-yolo`; `credentials`: refuses until a file of this name was there
    /// when it started; `stops-reading`: the first process does, once it has begun a session; `config`, `config-yolo`,
    /// `config-stuck`: has its modes in options, the last one does not leave a mode; `early-yolo`, `early-option`,
    /// `replay-yolo`: changes its mode together with the answer that begins a session, or before it; `blocks`: does nothing
    /// else while it waits for an answer, and with `at-second` begins no second session before its question of
    /// `ask-at-second`; `images`: takes pictures.
    private static let source = #"""
        import http.client, json, os, queue, socket, subprocess, sys, threading
        state, options = sys.argv[1], set(sys.argv[2:])
        if "no-start" in options:
            print("it cannot start\nfor a reason", file=sys.stderr); sys.exit(7)
        if "greets" in options: print("Welcome to the fake agent!\n", flush=True)
        lock = threading.Lock(); answers = {}; waiting = set(); second = threading.Event(); asked = threading.Event(); cancelled = {}; signed_in = os.path.exists(f"{state}/credentials"); count = 0
        title = "\x1b]0;fake: ready\x07\x1b[?25l\ufeffReady {0}: " if "titles" in options else ""
        def answered(m): return {**m, "id": str(m["id"])} if "text-ids" in options and "method" not in m else m
        def send(*messages):
            with lock: sys.stdout.write("".join(title + json.dumps({"jsonrpc": "2.0", **answered(m)}) + "\n" for m in messages)); sys.stdout.flush()
        def update(session, name, **more): send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": name, **more}}})
        def say(session, text): update(session, "agent_message_chunk", content={"type": "text", "text": text})
        def request(session, call, options=None):
            global count
            with lock: count += 1; number = count - 1
            number = f"srv_{number}" if "string-ids" in sys.argv else number
            answers[number] = queue.Queue(); waiting.add(number); asked.set()
            options = options or [("y", "Yes", "allow_once"), ("Y", "Always", "allow_always"), ("n", "No", "reject_once"), ("N", "Never", "reject_always")]
            send({"id": number, "method": "session/request_permission", "params": {"sessionId": session, "toolCall": call,
                "options": [{"optionId": o, "name": n, "kind": k} for o, n, k in options]}})
            return number
        def ask(session, call, options=None): return answers[request(session, call, options)].get()["result"]["outcome"]
        def stay(): threading.Event().wait()
        def memory(session): return f"{state}/memory-{session}"
        def turn(id, session, text, pictures):
            global count
            past = open(memory(session)).read() if os.path.exists(memory(session)) else ""
            open(memory(session), "a").write(text + "\n")
            word, _, rest = text.partition(" ")
            reason = "end_turn"
            if word == "say": say(session, rest)
            elif word == "pictures": say(session, json.dumps([[b["type"], b["mimeType"], len(b["data"])] for b in pictures]))
            elif word == "recall": say(session, "|".join(past.split("\n")[:-1]))
            elif word == "count":
                for i in range(int(rest)):
                    say(session, f"{i} ")
                    if i % 10 == 9: update(session, "tool_call", toolCallId=f"c{i}", title=f"Step {i}", kind="read", status="completed")
                    if i == int(rest) // 2: say(session, ask(session, {"toolCallId": "t", "title": "Go on"}).get("optionId", "none") + " ")
            elif word == "cwd": say(session, os.getcwd())
            elif word == "long": say(session, "\u00e9" * (5 << 19))
            elif word == "where": say(session, sessions.get(session, "?"))
            elif word == "env": say(session, json.dumps({k: v for k, v in os.environ.items() if k != "PAIRTOOL_AGENT_RUN"}))
            elif word == "think":
                update(session, "agent_thought_chunk", content={"type": "text", "text": "Let me "})
                update(session, "agent_thought_chunk", content={"type": "text", "text": "see."})
                update(session, "plan", entries=[{"content": "Look", "priority": "high", "status": "completed"}, {"content": "Do it", "priority": "low", "status": "in_progress"}])
                update(session, "tool_call", toolCallId="t", title="Read a\nfile", kind="read", status="pending", locations=[{"path": "a.txt", "line": 3}])
                update(session, "tool_call_update", toolCallId="t", status="in_progress")
                update(session, "tool_call_update", toolCallId="t", status="completed", content=[{"type": "content", "content": {"type": "text", "text": "2 lines"}}])
                update(session, "usage_update", used=1234, size=8000)
                say(session, "Done.")
            elif word == "show":
                update(session, "tool_call", toolCallId="t", title="Edit", kind="edit", status="pending", locations=[{"path": "a.txt", "line": 2}])
                change = {"type": "diff", "path": "a.txt", "oldText": "one\ntwo\n", "newText": "one\n2\n" + "more\n" * int(rest)}
                update(session, "tool_call_update", toolCallId="t", status="completed", content=[change])
                update(session, "agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": "AAAA"})
            elif word in ("ask", "ask-here"):
                place = "/x" if word == "ask" else sessions.get(session, "/x")
                outcome = ask(session, {"toolCallId": "t", "title": "Run it", "kind": "execute", "rawInput": {"command": "rm -r build", "cwd": place}})
                chosen = outcome.get("optionId", outcome["outcome"])
                update(session, "tool_call_update", toolCallId="t", status="completed" if chosen in "yY" else "failed")
                say(session, "chosen: " + chosen)
            elif word == "elicit":
                form = json.loads(rest)
                with lock: count += 1; number = f"form-{count}"
                answers[number] = queue.Queue()
                send({"id": number, "method": "elicitation/create", "params": {"sessionId": session, **form}})
                answer = answers[number].get(); answer = answer.get("result", answer.get("error"))
                if form.get("mode") == "url" and answer.get("action") == "accept":
                    send({"method": "elicitation/complete", "params": {"elicitationId": form["elicitationId"]}})
                say(session, "elicited: " + json.dumps(answer, sort_keys=True))
            elif word == "ask-at-second":
                say(session, "ready"); second.wait(); say(session, ", chosen: " + ask(session, {"toolCallId": "t", "title": "Run it"}).get("optionId", "none"))
            elif word == "ask-options":
                outcome = ask(session, {"toolCallId": "t", "title": "Run it", "kind": "execute"}, json.loads(rest))
                say(session, "chosen: " + outcome.get("optionId", outcome["outcome"]))
            elif word == "admin":
                path, _, line = rest.partition(" ")
                peer = socket.socket(socket.AF_UNIX); peer.connect(path); peer.sendall(line.encode() + b"\n")
                say(session, peer.makefile().readline())
            elif word == "http":
                port, method, path, body = rest.split(" ", 3)
                peer = http.client.HTTPConnection("127.0.0.1", int(port))
                peer.request(method, path, body, {"Content-Type": "application/json"}); say(session, peer.getresponse().read().decode())
            elif word == "shell":
                say(session, subprocess.run(["/bin/sh", "-c", rest], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout)
            elif word == "ask-then":
                ask(session, {"toolCallId": "t", "title": "Run it"}); reason = rest
                update(session, "usage_update", used=1, size=2)
                if rest == "die": os._exit(3)
                if rest == "end_turn": return send({"id": id, "result": {"stopReason": rest}})
            elif word == "ask-edit":
                change = {"type": "diff", "path": "a.txt", "oldText": "one\ntwo\n", "newText": "one\n2\n" + "more\n" * int(rest)}
                say(session, "chosen: " + ask(session, {"toolCallId": "t", "title": "Edit a.txt", "kind": "edit", "content": [change]})["optionId"])
            elif word == "ask-raw":
                ask(session, {"toolCallId": "t", "title": "Run it", "rawInput": json.loads(rest)})
            elif word == "reuse":
                for title, kind, path in (("Read", "read", "a.txt"), ("Run", None, None)):
                    more = {"kind": kind, "locations": [{"path": path}]} if kind else {}
                    update(session, "tool_call", toolCallId="t", title=title, status="in_progress", **more)
                    update(session, "tool_call_update", toolCallId="t", status="completed")
                    update(session, "tool_call_update", toolCallId="t", status="in_progress")
            elif word == "drop": forgotten.add(session); say(session, "dropped")
            elif word == "missing": return send({"id": id, "error": {"code": -32002, "message": "Resource not found"}})
            elif word == "partly-missing":
                say(session, "begun"); return send({"id": id, "error": {"code": -32002, "message": "Resource not found"}})
            elif word == "end-twice":
                for status in ("in_progress", "completed", "completed"): update(session, "tool_call", toolCallId="t", title="Look", status=status)
                say(session, "ended")
            elif word == "withdraw":
                request(session, {"toolCallId": "t", "title": "Run it"})
            elif word == "wait":
                say(session, "waiting")
                event = cancelled.setdefault(session, threading.Event()); event.wait()
                say(session, ", stopped"); reason = "cancelled"
            elif word == "wait-asking":
                say(session, "asking")
                outcome = ask(session, {"toolCallId": "t", "title": "Run it"})
                open(f"{state}/outcome", "w").write(json.dumps(outcome)); reason = "cancelled"
            elif word == "deaf":
                say(session, "deaf"); open(f"{state}/deaf", "w").write(str(os.getpid())); stay()
            elif word == "die":
                say(session, "partly"); print("secret reason", file=sys.stderr, flush=True); os._exit(3)
            elif word == "kill-me": os.kill(os.getpid(), 9)
            elif word == "leave":
                subprocess.Popen(["sh", "-c", f"echo $$ >{state}/left; echo; exec tail -f /dev/null"], start_new_session=True, stdout=subprocess.PIPE).stdout.readline()
                say(session, "left")
            elif word == "garbage":
                with lock:
                    for _ in range(1000): sys.stdout.write("this is no message\n")
                    sys.stdout.flush()
                stay()
            elif word == "flood":
                with lock:
                    for _ in range(40): sys.stdout.write("x" * (1 << 20))
                    sys.stdout.flush()
                stay()
            elif word == "updates":
                while not cancelled.setdefault(session, threading.Event()).is_set():
                    for _ in range(500): update(session, "available_commands_update", availableCommands=[])
                reason = "cancelled"
            elif word == "refuse": reason = "refusal"
            elif word == "tokens": say(session, "cut"); reason = "max_tokens"
            elif word == "stop": reason = "cancelled"
            elif word == "error": return send({"id": id, "error": {"code": -32603, "message": "Internal error", "data": {"details": "no luck"}}})
            elif word == "sign-out": return send({"id": id, "error": {"code": -32000, "message": "Authentication required"}})
            elif word == "go-yolo":
                update(session, "current_mode_update", currentModeId="yolo"); say(session, "free")
                if "deaf-yolo" in options: stay()
                event = cancelled.setdefault(session, threading.Event()); event.wait(5); reason = "cancelled" if event.is_set() else "end_turn"
            elif word == "files":
                answers["f"] = queue.Queue()
                send({"id": "f", "method": "fs/read_text_file", "params": {"sessionId": session, "path": "/etc/hostname"}})
                say(session, str(answers["f"].get()["error"]["code"]))
            elif word == "large":
                update(session, "tool_call", toolCallId="t", title="Edit", kind="edit", status="completed", content=[{"type": "diff", "path": "a", "oldText": None, "newText": "line\n" * 1600000}])
                say(session, "large")
            send({"id": id, "result": {"stopReason": reason, "usage": {"inputTokens": 5, "outputTokens": 6, "totalTokens": 11}, "extra": 1}})
        mode = "yolo" if options & {"config-yolo", "config-stuck"} else "ask"
        def choices():
            values = [{"value": "yolo", "name": "YOLO"}] + ([] if "early-option" in options else [{"value": "ask", "name": "Ask first"}])
            return {"configOptions": [{"id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": mode, "options": values}]}
        def early(session):
            global mode
            if "early-option" in options:
                mode = "yolo"; return [{"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": "config_option_update", **choices()}}}]
            if not options & {"early-yolo", "replay-yolo"}: return []
            return [{"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}}]
        def begun(session, answer):
            before = early(session) if "replay-yolo" in options else []
            send(*before, answer, *([] if before else early(session)))
        def modes():
            if options & {"config", "config-yolo", "config-stuck", "early-option"}: return choices()
            if not options & {"modes", "yolo", "stuck-yolo"}: return {}
            current = "ask" if "modes" in options else "yolo"
            available = [{"id": "yolo", "name": "YOLO"}] + ([] if "stuck-yolo" in options else [{"id": "ask", "name": "Ask first"}])
            return {"modes": {"currentModeId": current, "availableModes": available}}
        sessions = {}; forgotten = set()
        def lines():
            later = []
            for line in sys.stdin:
                method = json.loads(line).get("method")
                if "blocks" in options and method == "session/new" and sessions:
                    second.set()
                    if "at-second" in options: asked.wait()
                if "blocks" in options and waiting and method not in (None, "session/cancel"): later.append(line); continue
                yield line
                while later and not waiting: yield later.pop(0)
        for line in lines():
            message = json.loads(line); method = message.get("method"); id = message.get("id"); p = message.get("params") or {}
            session = p.get("sessionId")
            if method is None:
                open(f"{state}/answers", "a").write(line)
                waiting.discard(id)
                if id in answers: answers[id].put(message)
            elif method == "initialize":
                if "silent" in options: continue
                if "no-key" in options: send({"id": id, "error": {"code": -32603, "message": "There is no API key"}}); continue
                if "gibberish" in options:
                    while True: print("usage: fake-agent [-h]", flush=True)
                send({"id": id, "result": {"protocolVersion": 2 if "version-2" in options else 1, "agentInfo": {"name": "fake", "version": "1.0"},
                    "agentCapabilities": {"promptCapabilities": {"image": "images" in options}, "loadSession": "load" in options, "sessionCapabilities": {"resume": {}} if "resume" in options else {}},
                    "authMethods": [{"id": "key", "name": "A key"}]}})
            elif method == "authenticate": signed_in = True; send({"id": id, "result": {}})
            elif method == "session/new":
                if "no-session" in options and os.path.exists(f"{state}/hung"): pass
                elif "no-session" in options: open(f"{state}/hung", "w").close(); continue
                if options & {"sign-in", "credentials"} and not signed_in: send({"id": id, "error": {"code": -32000, "message": "Authentication required"}}); continue
                name = f"s-{os.getpid()}-{len(sessions)}"; sessions[name] = p["cwd"]
                begun(name, {"id": id, "result": {"sessionId": name, **modes()}})
                if "stops-reading" in options and not os.path.exists(f"{state}/stopped"):
                    open(f"{state}/stopping", "w").write(str(os.getpid())); os.rename(f"{state}/stopping", f"{state}/stopped"); stay()
            elif method in ("session/load", "session/resume"):
                if not os.path.exists(memory(session)): send({"id": id, "error": {"code": -32002, "message": "no such session"}}); continue
                sessions[session] = p["cwd"]
                if method == "session/load": say(session, "replayed")
                begun(session, {"id": id, "result": {**modes()}})
            elif method == "session/set_mode":
                open(f"{state}/mode", "w").write(p["modeId"]); send({"id": id, "result": {}})
            elif method == "session/set_config_option":
                if "config-stuck" not in options: mode = p["value"]
                open(f"{state}/option", "w").write(json.dumps([p["configId"], p["value"]])); send({"id": id, "result": choices()})
            elif method == "session/prompt":
                if session not in sessions or session in forgotten: send({"id": id, "error": {"code": -32002, "message": "no such session"}}); continue
                cancelled.pop(session, None)
                threading.Thread(target=turn, args=(id, session, p["prompt"][0]["text"], p["prompt"][1:]), daemon=True).start()
            elif method == "session/cancel": cancelled.setdefault(session, threading.Event()).set()
            elif id is not None: send({"id": id, "error": {"code": -32601, "message": "unknown"}})
        """#
}
