import Glibc

/// Agents that nobody here wrote, from PyPI. `scripts/make-agents` installs them.
package enum RealAgent {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    /// The programs of the Python that has them.
    package static let programs = root + "/.build/agents-venv/bin"
    package static let python = programs + "/python"
    package static let isInstalled = access(python, X_OK) == 0

    /// A program that runs agentao in a directory, its argument. A stand-in for an OpenAI-compatible server on loopback, in
    /// the agent's own process, is its model: “run COMMAND” has it call the agent's shell; else it tells how many prompts
    /// it was given.
    package static let agentao = """
        import http.server, json, os, sys, threading

        class Model(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_): pass
            def do_POST(self):
                messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
                last, end = messages[-1], "stop"
                prompts = [m["content"] for m in messages if m["role"] == "user"]
                # The agent puts a reminder of the time before it.
                prompt = str(prompts[-1]).splitlines()[-1]
                if last["role"] == "tool": delta = {"content": "It said: " + str(last["content"])}
                elif prompt.startswith("run "):
                    arguments = json.dumps({"command": prompt.removeprefix("run "), "description": "a test"})
                    call = {"index": 0, "id": f"call_{len(messages)}", "type": "function"}
                    delta = {"tool_calls": [call | {"function": {"name": "run_shell_command", "arguments": arguments}}]}
                    end = "tool_calls"
                else: delta = {"content": f"prompts: {len(prompts)}"}
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for part, reason in (({"role": "assistant"}, None), (delta, None), ({}, end)):
                    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
                    chunk["choices"] = [{"index": 0, "delta": part, "finish_reason": reason}]
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\\n\\n")
                self.wfile.write(b"data: [DONE]\\n\\n")

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        os.environ.update(HOME=sys.argv[1], LLM_PROVIDER="OPENAI", OPENAI_API_KEY="none", OPENAI_MODEL="m", OPENAI_BASE_URL=address)
        sys.argv = ["agentao", "--acp", "--stdio"]
        from agentao.cli import entrypoint
        sys.exit(entrypoint())
        """
}
