"""What `pairtool acp` adds between an editor and an agent, and the sessions that an agent lists; see scripts/bench."""
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bench_agent
import bench_companion

PROMPTS, MESSAGES = 20, 50
SESSIONS = 20
LISTED = 1000

# An agent that says at which time it wrote each message, one every 2 ms; and lists sessions, in pages of 100. All processes
# of a machine have the same monotonic clock.
AGENT = """
import json, os, sys, time
def send(**message): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
count = 0
for line in sys.stdin:
    got = time.monotonic_ns()
    message = json.loads(line)
    id, method, parameters = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "sessionCapabilities": LISTS}})
    elif method == "session/new": count += 1; send(id=id, result={"sessionId": f"s{os.getpid()}-{count}"})
    elif method == "session/list":
        start = int(parameters.get("cursor") or 0)
        more = {"nextCursor": str(start + 100)} if start + 100 < LISTED else {}
        send(id=id, result={"sessions": [{"sessionId": f"kept{n}", "cwd": sys.argv[1], "title": f"Session {n}",
            "updatedAt": "2026-11-01T10:00:00Z"} for n in range(start, start + 100)], **more})
    elif method == "session/prompt":
        for number in range(MESSAGES):
            text = f"got {got} said {time.monotonic_ns()} and some words that an agent would write"
            send(method="session/update", params={"sessionId": parameters["sessionId"],
                "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
            time.sleep(0.002)
        send(id=id, result={"stopReason": "end_turn"})
"""


class Editor:
    """An editor with one agent, which it asks one thing at a time."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        self.agent = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0
        self.call("initialize", protocolVersion=1, clientCapabilities={})

    def __enter__(self) -> "Editor":
        return self

    def __exit__(self, *_) -> None:
        self.agent.stdin.close()
        self.agent.wait()

    def call(self, method: str, **parameters) -> tuple[dict, list[tuple[int, dict]]]:
        """The answer, and the updates that came before it, each with its time."""
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": parameters}
        self.agent.stdin.write(json.dumps(message).encode() + b"\n")
        self.agent.stdin.flush()
        updates = []
        for line in self.agent.stdout:
            now, message = time.monotonic_ns(), json.loads(line)
            if message.get("id") == self.count:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"], updates
            updates.append((now, message["params"].get("update", {})))
        sys.exit(f"the agent ended at {method}")

    def new(self, directory: Path) -> str:
        return self.call("session/new", cwd=str(directory), mcpServers=[])[0]["sessionId"]

    def prompt(self, session: str) -> list[tuple[int, dict]]:
        return self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go on"}])[1]

    def memory(self) -> float:
        """What the agent's process has now, in MB."""
        status = Path(f"/proc/{self.agent.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def latencies(editor: Editor, directory: Path) -> tuple[list[float], list[float]]:
    """From the prompt to the agent, and from each message of the agent to the editor, in ms."""
    session = editor.new(directory)
    asked, told = [], []
    for number in range(PROMPTS + 2):
        begin = time.monotonic_ns()
        texts = [(now, words(update)) for now, update in editor.prompt(session)]
        times = [(now, bench_agent.times(text.encode())) for now, text in texts if "said " in text]
        if len(times) != MESSAGES:
            sys.exit(f"{len(times)} of {MESSAGES} messages arrived")
        # The first ones start the agent and its session.
        if number >= 2:
            asked.append((times[0][1][0] - begin) / 1e6)
            told += [(now - said) / 1e6 for now, (_, said) in times]
    return asked, told


def words(update: dict) -> str:
    content = update.get("content")
    return content.get("text", "") if isinstance(content, dict) else ""


def editor(work: Path, row) -> None:
    program = work / "acp.py"
    source = AGENT.replace("MESSAGES", str(MESSAGES)).replace("LISTED", str(LISTED))
    program.write_text(source.replace("LISTS", "{}"))
    listing = work / "listing.py"
    listing.write_text(source.replace("LISTS", '{"list": {}}'))
    project = work / "project"
    companion = bench_companion.Machine(work / "companion")
    command = [sys.executable, str(program)]
    with bench_companion.Host(work, "--quota", "none", "--acp", "--agent-command", " ".join(command)) as server:
        server.pair(companion)
        bridge = [str(bench_companion.TOOL), "acp"]
        with Editor(command) as direct:
            asked, told = latencies(direct, project)
        with Editor(bridge, companion.environment) as bridged:
            asked_bridged, told_bridged = latencies(bridged, project)
        middle = statistics.median(told_bridged) - statistics.median(told)
        last = statistics.quantiles(told_bridged, n=100)[-1] - statistics.quantiles(told, n=100)[-1]
        row(f"added by acp to an agent's message, {len(told)} of them", f"{middle:.2f} ms", f"the agent itself {statistics.median(told):.2f} ms",
            None, "≤ 2 ms", middle <= 2)
        row("… 99 of 100", f"{last:.2f} ms", "", None, "≤ 10 ms", last <= 10)
        row("… to a prompt on its way to the agent", f"{statistics.median(asked_bridged) - statistics.median(asked):.1f} ms",
            "a connection, a signed command, stored", None, "reported")
        with Editor(bridge, companion.environment) as many:
            sessions = [many.new(project) for _ in range(SESSIONS)]
            before = many.memory()
            for session in sessions:
                many.prompt(session)
            after = many.memory()
            row(f"memory of acp, {SESSIONS} sessions with a turn each", f"{after:.0f} MB", f"before their turns {before:.0f} MB", None,
                "reported")
    place = work / "listing"
    place.mkdir()
    companion = bench_companion.Machine(place / "companion")
    with bench_companion.Host(place, "--acp", "--agent-command", f"{sys.executable} {listing} {place}/project") as server:
        server.pair(companion)
        first, later = listed(server, companion)
        row(f"list of an agent's {LISTED} sessions, after the first", f"{later * 1000:.0f} ms", f"the first {first:.1f} s", None,
            "≤ 200 ms", later <= 0.2)


def listed(server: bench_companion.Host, companion: bench_companion.Machine) -> tuple[float, float]:
    """Seconds until all sessions are listed, and of a list afterwards."""
    chats = bench_agent.Chats(server, companion)
    connection = chats.connect()

    def ask() -> tuple[float, int]:
        start = time.perf_counter()
        connection.request("GET", f"/companion/projects/{chats.project}/chats", headers=chats.device.headers)
        answer = json.load(connection.getresponse())
        return time.perf_counter() - start, len(answer["chats"])

    begin = time.perf_counter()
    while ask()[1] < LISTED:
        if time.perf_counter() - begin > 60:
            sys.exit("the sessions were not listed")
    first = time.perf_counter() - begin
    return first, statistics.median(ask()[0] for _ in range(10))
