"""What the host adds between a companion and an agent of the Agent Client Protocol; see scripts/bench."""
import asyncio
import http.client
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bench_companion

PROMPTS = 50
CHATS = 50
PIECES = 200
FILES = 300

# An agent that says when it got a prompt and when it answered, or writes many pieces. All processes of a machine have
# the same monotonic clock.
AGENT = """
import json, sys, threading, time
lock, together = threading.Lock(), threading.Barrier(CHATS)
def send(**message):
    line = json.dumps({"jsonrpc": "2.0", **message}) + "\\n"
    with lock: sys.stdout.write(line); sys.stdout.flush()
def say(session, text):
    content = {"type": "text", "text": text}
    send(method="session/update", params={"sessionId": session,
        "update": {"sessionUpdate": "agent_message_chunk", "content": content}})
def answer(id, session, prompt, got):
    if prompt == "first": say(session, f"got {got} said {time.monotonic_ns()} ")
    else:
        # The chats' answers begin when all prompts are here, so all of them stream at the same time.
        together.wait(60)
        for number in range(PIECES): say(session, f"piece {number:04} of some words that an agent would write ")
        say(session, "the last")
    send(id=id, result={"stopReason": "end_turn"})
sessions = 0
for line in sys.stdin:
    got = time.monotonic_ns()
    message = json.loads(line)
    id, method, parameters = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize": send(id=id, result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        sessions += 1
        send(id=id, result={"sessionId": f"s{sessions}"})
    elif method == "session/prompt":
        arguments = (id, parameters["sessionId"], parameters["prompt"][0]["text"], got)
        threading.Thread(target=answer, args=arguments, daemon=True).start()
"""


class Chats:
    """Sends prompts over one connection that stays open."""

    def __init__(self, server: bench_companion.Host, companion: bench_companion.Machine):
        self.device = bench_companion.Device(companion)
        self.port = server.tls_port
        self.connection = self.connect()
        self.project = json.loads(companion.run("projects", "--json").splitlines()[0])["id"]
        self.model = json.loads(companion.run("models", "--json").splitlines()[0])["id"]

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=bench_companion.trusting())

    def command(self, payload: dict) -> dict:
        body = self.device.command(payload)
        self.connection.request("POST", "/companion/command", body,
                                {"Content-Type": "application/json", **self.device.headers})
        answer = json.load(self.connection.getresponse())
        if not answer["ok"]:
            sys.exit(f"the host refused a command: {answer}")
        return answer["result"]

    def chat(self) -> str:
        return self.command({"type": "chat.create", "projectId": self.project})["id"]

    def send(self, chat: str, prompt: str) -> str:
        return self.command({"type": "chat.send", "chatId": chat, "prompt": prompt, "model": self.model})["turnId"]


def agent(work: Path, row) -> None:
    program = work / "acp.py"
    program.write_text(AGENT.replace("PIECES", str(PIECES)).replace("CHATS", str(CHATS)))
    arguments = ("--quota", "none", "--acp", "--agent-command", f"{sys.executable} {program}")
    companion = bench_companion.Machine(work / "companion")
    with bench_companion.Host(work, *arguments) as server:
        server.pair(companion)
        chats = Chats(server, companion)
        middle, most = first_word(chats)
        row(f"added to an agent's first word, {PROMPTS} times", f"{middle:.1f} ms, nine of ten in {most:.1f} ms",
            "the command stored and signed, both ways over TLS", None, "≤ 10 ms", middle <= 10)
        many(server, chats, row)
    # A turn in a git project runs several git processes before the agent.
    place = work / "git"
    make_repository(place / "project")
    companion = bench_companion.Machine(place / "companion")
    with bench_companion.Host(place, *arguments) as server:
        server.pair(companion)
        middle, most = first_word(Chats(server, companion))
        row("… first word, project under git", f"{middle:.1f} ms, nine of ten in {most:.1f} ms", f"{FILES} files", None,
            "reported")


def make_repository(path: Path) -> None:
    """A git repository with one commit of many small files."""
    for number in range(FILES):
        file = path / f"part{number % 20}/file{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"words of file {number}\n" * 50)
    for words in (["init", "-q"], ["add", "."],
                  ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(path), *words], check=True)


def first_word(chats: Chats) -> tuple[float, float]:
    """From the prompt's command to the agent, and from the agent's word to the reader of the turn's events: the median
    and the ninth of ten, in ms."""
    chat = chats.chat()
    reader = chats.connect()
    reader.connect()
    added = []
    for number in range(PROMPTS + 5):
        begin = time.monotonic_ns()
        turn = chats.send(chat, "first")
        reader.request("GET", f"/companion/chats/{chat}/turns/{turn}/events", headers=chats.device.headers)
        events = reader.getresponse()
        text = b""
        # The line with the word is whole.
        while b"said " not in text:
            if not (line := events.readline()):
                sys.exit(f"the turn ended without a word: {text.decode()}")
            text += line
        end = time.monotonic_ns()
        got, said = times(text)
        events.read()
        # The first ones start the agent and its session.
        if number >= 5:
            added.append((got - begin + end - said) / 1e6)
    return statistics.median(added), statistics.quantiles(added, n=10)[-1]


def times(text: bytes) -> tuple[int, int]:
    """When the agent got the prompt, and when it answered."""
    words = text.decode().partition("got ")[2].split()
    return int(words[0]), int(words[2])


def many(server: bench_companion.Host, chats: Chats, row) -> None:
    """Chats that stream at the same time."""
    before = server.memory("VmRSS")
    ids = [chats.chat() for _ in range(CHATS)]
    start = time.perf_counter()
    turns = [(chat, chats.send(chat, "many")) for chat in ids]
    sizes = asyncio.run(read_all(chats, turns))
    taken = time.perf_counter() - start
    if min(sizes) < PIECES * 50:
        sys.exit(f"a chat lost text: {min(sizes)} bytes")
    rate = CHATS * PIECES / taken
    row(f"{CHATS} chats stream {PIECES} pieces each at once", f"{taken:.2f} s, {rate:,.0f} pieces/s", "", None, "reported")
    grown = (server.memory("VmRSS") - before) / CHATS
    row("… memory of the host a chat", f"{grown * 1024:.0f} KB", f"peak {server.memory():.0f} MB", None, "reported")


async def read_all(chats: Chats, turns: list[tuple[str, str]]) -> list[int]:
    """Bytes of all events of each turn."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in chats.device.headers.items())

    async def read(chat: str, turn: str) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", chats.port, ssl=bench_companion.trusting())
        target = f"/companion/chats/{chat}/turns/{turn}/events"
        writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode())
        size, tail = 0, b""
        while b"[DONE]" not in tail:
            if not (part := await reader.read(1 << 16)):
                sys.exit("a stream ended early")
            size += len(part)
            tail = tail[-16:] + part
        writer.transport.abort()
        return size

    return await asyncio.gather(*(read(*turn) for turn in turns))
