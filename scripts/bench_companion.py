"""The parts of `scripts/bench` that run a host and a companion: see bench.py."""

import asyncio
import base64
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import ssl
import statistics
import subprocess
import sys
import time
import urllib.request
import uuid
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / ".build/release/pairtool"
STREAMS = 1000
PROJECTS = 100_000


class Machine:
    """Directories of its own for a host or a companion, as if it were another machine."""

    def __init__(self, home: Path):
        self.home = home
        self.data = home / ".local/share/pairtool"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"),
                            "SWIFT_BACKTRACE": "enable=no"}

    def run(self, *arguments: str, **options) -> str:
        return subprocess.run([str(TOOL), *arguments], env=self.environment, text=True, check=True,
                              stdout=subprocess.PIPE, **options).stdout


class Host:
    """A running host of its own; its events come one by one."""

    def __init__(self, work: Path, *arguments: str, prefix: tuple[str, ...] = ()):
        project = work / "project"
        project.mkdir(exist_ok=True)
        self.machine = Machine(work / "host")
        self.command = [*prefix, str(TOOL), "host", "--name", "Bench", "--port", "0", "--project", str(project),
                        "--engine", "embedded", "--json", "--show-secrets", *arguments]

    def __enter__(self) -> "Host":
        self.process = subprocess.Popen(self.command, env=self.machine.environment, stdout=subprocess.PIPE, text=True)
        events: dict[str, dict] = {}
        while not {"listening", "challenge"} <= events.keys():
            event = self.event()
            events[event["event"]] = event
        self.port, self.tls_port = events["listening"]["port"], events["listening"]["tlsPort"]
        self.challenge = events["challenge"]
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.read()
        self.process.wait()

    def event(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the host ended")
        return json.loads(line)

    def next_challenge(self) -> None:
        while (event := self.event())["event"] != "challenge":
            pass
        self.challenge = event

    def cpu(self) -> float:
        """CPU seconds of all its threads so far."""
        return process_cpu(self.process.pid)

    def memory(self, key: str = "VmHWM") -> float:
        """The most memory that it had, in MB; with the key VmRSS, what it has now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024

    @property
    def database(self) -> Path:
        return self.machine.data / "host/host.sqlite"

    def pair(self, companion: Machine) -> None:
        companion.run("pair", "--url", f"https://127.0.0.1:{self.tls_port}", "--code-stdin", "-q",
                      input=self.challenge["code"])


class Device:
    """What a companion that has paired signs and shows."""

    def __init__(self, companion: Machine):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        # An 8-byte mark, the seed, the public key.
        content = (companion.data / "identity.key").read_bytes()
        self.key = Ed25519PrivateKey.from_private_bytes(content[8:40])
        host = json.loads(companion.run("hosts", "--json").splitlines()[0])
        self.host_id, self.id = host["id"], host["deviceId"]
        sessions = json.loads((companion.data / "sessions.json").read_text())["sessions"]
        self.token = sessions[self.host_id]["token"]

    def command(self, payload: dict) -> bytes:
        now = datetime.now(timezone.utc)
        written = lambda time: time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03}Z"
        envelope = {
            "commandId": str(uuid.uuid4()), "issuedAt": written(now), "expiresAt": written(now + timedelta(seconds=300)),
            "deviceId": self.id, "audience": self.host_id,
            "nonce": base64.urlsafe_b64encode(os.urandom(16)).rstrip(b"=").decode(), "payload": payload,
        }
        signature = self.key.sign(b"copilotforge-command-v2\n" + canonical(envelope))
        return canonical({**envelope, "signature": base64.b64encode(signature).decode()})

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-CopilotForge-Companion-Version": "2"}


def process_cpu(pid: int) -> float:
    """CPU seconds of all threads of a process so far: its clock (clock_getcpuclockid(3))."""
    return time.clock_gettime(~pid << 3 | 2)


def canonical(value: dict) -> bytes:
    """RFC 8785 for texts, integers and names in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def post(url: str, body: bytes, headers: dict[str, str]) -> dict:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers}, method="POST")
    with urllib.request.urlopen(request, context=trusting() if url.startswith("https") else None) as answer:
        return json.load(answer)


def wrk(url: str, connections: int, seconds: int, headers: dict[str, str] = {}, script: Path | None = None) -> float:
    """Requests a second."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    if script:
        command += ["-s", str(script)]
    output = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in output or "Socket errors" in output:
        sys.exit(f"the host refused the benchmark's requests:\n{output}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])


def host(work: Path, row) -> None:
    """Pages of messages over plain HTTP and TLS, and a long chat at the companion."""
    companion = Machine(work / "companion")
    with Host(work, "--legacy") as server:
        server.pair(companion)
        device = Device(companion)
        companion.run("send", "--new", "-q", "help")
        chat = companion.run("chats", "-q").split()[0]
        fill(server.database, chat, 100_000)
        server.next_challenge()
        post(f"http://127.0.0.1:{server.port}/companion/pairing/complete",
             json.dumps({"pairingCode": server.challenge["code"], "deviceName": "wrk",
                         "devicePublicKey": base64.b64encode(bytes(32)).decode()}).encode(), {})

        page = f"/companion/chats/{chat}/messages?cursor=50000&limit=50"
        plain, secure = f"http://127.0.0.1:{server.port}{page}", f"https://127.0.0.1:{server.tls_port}{page}"
        beside_node(plain, server, row)
        # In turn, so that both see the same machine.
        pairs = [(1 / wrk(secure, 1, 2, device.headers), 1 / wrk(plain, 1, 2)) for _ in range(5)]
        with_tls, without = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        row("page of 50 over TLS 1.3, warm", f"{with_tls * 1e6:.0f} µs", f"plain HTTP {without * 1e6:.0f} µs",
            with_tls / without, "≤ 1.30", with_tls <= 1.3 * without)

        # wait4 tells the memory of this one child.
        start = time.perf_counter()
        reader = subprocess.Popen([str(TOOL), "messages", chat, "--all", "-q"], env=companion.environment,
                                  stdout=subprocess.PIPE)
        count = sum(chunk.count(b"\n") for chunk in iter(lambda: reader.stdout.read(1 << 16), b""))
        _, status, usage = os.wait4(reader.pid, 0)
        taken = time.perf_counter() - start
        reader.returncode = os.waitstatus_to_exitcode(status)
        if reader.returncode != 0 or count < 100_000:
            sys.exit(f"only {count} messages were listed")
        memory = usage.ru_maxrss / 1024
        row("list 100,000 messages over TLS", f"{memory:.0f} MB, {taken:.1f} s", "", None, "< 200 MB", memory < 200)


# What the real backend does for a page: it has its messages in memory.
NODE = """
const { createServer } = require("http");
const messages = JSON.parse(require("fs").readFileSync(0, "utf8"));
createServer((request, response) => {
  const query = new URL(request.url, "http://localhost").searchParams;
  const [cursor, limit] = [Number(query.get("cursor")), Number(query.get("limit"))];
  response.writeHead(200, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify({ ok: true, chatId: "bench", messages: messages.slice(cursor, cursor + limit),
                                nextCursor: String(cursor + limit) }));
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
"""


def beside_node(page: str, server: Host, row) -> None:
    """A page of 50 messages of 100,000, beside Node with all of them in memory, in turn."""
    if not shutil.which("node"):
        rate = wrk(page, 16, 5)
        row("host, 16 connections, pages of 50", f"{rate:,.0f} requests/s", "node is not installed", None, "reported")
        return
    with urllib.request.urlopen(page) as answer:
        messages = json.load(answer)["messages"]
    node = subprocess.Popen(["node", "-e", NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        json.dump(messages * (100_000 // len(messages)), node.stdin)
        node.stdin.close()
        theirs = f"http://127.0.0.1:{node.stdout.readline().strip()}/{page.partition('?')[1]}{page.partition('?')[2]}"
        pairs = [(wrk(page, 16, 3), wrk(theirs, 16, 3)) for _ in range(5)]
    finally:
        node.kill()
        node.wait()
    ours, nodes = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    row("host, 16 connections, pages of 50", f"{ours:,.0f} requests/s, peak {server.memory():.0f} MB",
        f"Node, in memory {nodes:,.0f} requests/s", ours / nodes, "≥ 1.00", ours >= nodes)


def projects(work: Path, row) -> None:
    """The list of 100,000 projects that a device has made."""
    with Host(work) as server:
        database, folder = server.database, server.machine.data / "host/projects"
    paths = [folder / str(number) for number in range(PROJECTS)]
    for path in paths:
        path.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(
            "INSERT INTO project (id, name, path, updatedAt, isMade) VALUES (?, ?, ?, ?, 1)",
            ((hashlib.sha1(str(path).encode()).hexdigest()[:16], path.name, str(path), "2026-01-01T00:00:00.000Z")
             for path in paths))
    companion = Machine(work / "companion")
    with Host(work) as server:
        server.pair(companion)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            count = companion.run("projects", "-q").count("\n")
            times.append(time.perf_counter() - start)
            if count < PROJECTS:
                sys.exit(f"only {count} projects were listed")
    taken = statistics.median(times)
    row(f"list {PROJECTS:,} projects", f"{taken:.2f} s", "", None, "reported")


def pairing(work: Path, row) -> None:
    """CPU time of a pairing by six digits at both sides, hello to confirm. A relay between them reads both clocks while
    the companion ends its look at the host's certificate, before it opens the connection for hello; the count ends with
    the companion's process. So it holds a TLS handshake, the question what the host speaks, and the record on the disk,
    too."""
    with Host(work) as server:
        costs = []
        for number in range(21):
            companion = Machine(work / f"companion{number}")
            companion.home.mkdir()
            costs.append(asyncio.run(paired_through_relay(server, companion)))
            server.next_challenge()
        both, client, whole = sorted(costs)[len(costs) // 2]
        row("pairing, hello to confirm, CPU of both", f"{both * 1e3:.1f} ms",
            f"{client * 1e3:.1f} ms of it companion; {whole * 1e3:.1f} ms with both processes' work before",
            None, "reported")


async def paired_through_relay(server: Host, companion: Machine) -> tuple[float, float, float]:
    """CPU seconds that a pairing took both sides, that it took the companion alone, both since hello's connection, and
    both with what came before: the companion's start, and its look at the certificate."""
    connections, readings = 0, []
    started = server.cpu()

    def read_clocks() -> tuple[float, float]:
        return process_cpu(companion_process.pid), server.cpu()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            if connections == 1:
                readings.append(read_clocks())
            writer.write(data)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        back = await asyncio.open_connection("127.0.0.1", server.tls_port)
        await asyncio.gather(pump(reader, back[1]), pump(back[0], writer), return_exceptions=True)

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        companion_process = await asyncio.create_subprocess_exec(
            str(TOOL), "pair", "--url", f"https://127.0.0.1:{port}", "--code-stdin", "-q", env=companion.environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL)
        await companion_process.communicate(server.challenge["code"].encode())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if companion_process.returncode != 0 or connections != 2:
        sys.exit(f"no pairing over two connections: {connections}, exit code {companion_process.returncode}")
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended = server.cpu()
    client_before, host_before = readings[-1]
    return (client - client_before + ended - host_before, client - client_before, client + ended - started)


def commands(work: Path, row) -> None:
    """Signed commands that make chats, on a host that has one core; each one is in the database when it is answered."""
    companion = Machine(work / "companion")
    with Host(work, "--quota", "none", prefix=("taskset", "-c", "0")) as server:
        server.pair(companion)
        device = Device(companion)
        project = json.loads(companion.run("projects", "--json").splitlines()[0])["id"]
        bodies = work / "bodies"
        with bodies.open("wb") as file:
            for _ in range(50_000):
                file.write(device.command({"type": "chat.create", "projectId": project}) + b"\n")
        script = work / "commands.lua"
        script.write_text(
            f'local lines = io.lines("{bodies}")\n'
            'local headers = {["Content-Type"] = "application/json", ["X-CopilotForge-Companion-Version"] = "2",\n'
            f'  ["Authorization"] = "Bearer {device.token}"}}\n'
            'request = function() return wrk.format("POST", "/companion/command", headers, lines()) end\n'
        )
        rate = wrk(f"https://127.0.0.1:{server.tls_port}", 16, 5, script=script)
        with sqlite3.connect(server.database, timeout=30) as connection:
            stored = connection.execute("SELECT count(*) FROM chat").fetchone()[0]
        if stored < rate * 4.5:
            sys.exit(f"{rate:.0f} commands a second were answered, but only {stored} are stored")
        row("signed commands, host on one core", f"{rate:,.0f} /s", f"{stored:,} chats stored", None, "reported")


def streams(work: Path, row) -> None:
    """Open streams of one turn, whose agent says one word when it is told to."""
    signal_file = work / "go"
    os.mkfifo(signal_file)
    agent = work / "agent.py"
    agent.write_text("import sys\nsys.stdin.read()\nopen(sys.argv[1]).read()\nprint('started', flush=True)\n")
    companion = Machine(work / "companion")
    with Host(work, "--agent-command", f"{sys.executable} {agent} {signal_file}") as server:
        server.pair(companion)
        device = Device(companion)
        project = json.loads(companion.run("projects", "--json").splitlines()[0])["id"]
        url = f"https://127.0.0.1:{server.tls_port}/companion/command"
        chat = post(url, device.command({"type": "chat.create", "projectId": project}), device.headers)["result"]["id"]
        model = json.loads(companion.run("models", "--json").splitlines()[0])["id"]
        turn = post(url, device.command({"type": "chat.send", "chatId": chat, "prompt": "go", "model": model}),
                    device.headers)["result"]["turnId"]
        target = f"/companion/chats/{chat}/turns/{turn}/events"
        taken = asyncio.run(first_bytes(server.tls_port, target, device.headers, signal_file))
        memory = server.memory()
        row(f"{STREAMS:,} open streams over TLS", f"{memory:.0f} MB", "", None, "< 300 MB", memory < 300)
        row("… first byte of an event at all of them", f"{taken * 1e3:.0f} ms", "", None, "≤ 1 s", taken <= 1)


async def first_bytes(port: int, target: str, headers: dict[str, str], signal_file: Path) -> float:
    """Seconds from the agent's word to the last stream that has it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    context = trusting()

    async def open_stream() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0]:
            sys.exit(f"a stream was refused: {head.decode()}")
        return reader, writer

    opened = []
    for _ in range(0, STREAMS, 50):
        opened += await asyncio.gather(*(open_stream() for _ in range(50)))
    waiting = [asyncio.create_task(reader.readuntil(b"started")) for reader, _ in opened]
    await asyncio.sleep(0)
    start = time.perf_counter()
    signal_file.write_text("go")
    await asyncio.gather(*waiting)
    taken = time.perf_counter() - start
    for _, writer in opened:
        writer.transport.abort()
    return taken


def ends(work: Path, row) -> None:
    """How soon a watch ends when its device is revoked, and a host that is watched while it runs an agent that does not
    want to end."""
    agent = work / "agent.sh"
    agent.write_text("trap '' TERM\necho started\nwhile :; do sleep 60; done\n")
    companion = Machine(work / "companion")
    with Host(work, "--agent-command", f"sh {agent}") as server:
        cuts = []
        for _ in range(5):
            server.pair(companion)
            server.next_challenge()
            with watching(companion) as watch:
                revoking = subprocess.Popen([str(TOOL), "host", "revoke", Device(companion).id],
                                            env=server.machine.environment, stdout=subprocess.DEVNULL)
                while server.event()["event"] != "revoked":
                    pass
                start = time.perf_counter()
                watch.stdout.read()
                cuts.append(time.perf_counter() - start)
                revoking.wait()
        worst = max(cuts)
        row("device revoked → its watch ends", f"{statistics.median(cuts):.3f} s, worst {worst:.3f} s", "", None, "≤ 1 s",
            worst <= 1)
        server.pair(companion)
        project = json.loads(companion.run("projects", "--json").splitlines()[0])["id"]
        model = json.loads(companion.run("models", "--json").splitlines()[0])["id"]
        send = [str(TOOL), "send", "--new", "--project", project, "--model", model, "go"]
        with watching(companion), subprocess.Popen(send, env=companion.environment, stdout=subprocess.PIPE,
                                                   stderr=subprocess.DEVNULL) as turn:
            turn.stdout.read(len("started"))
            start = time.perf_counter()
            server.process.send_signal(signal.SIGINT)
            server.process.wait()
            taken = time.perf_counter() - start
            turn.kill()
    row("host told to end, agent ignores SIGTERM", f"{taken:.3f} s", "", None, "≤ 3 s", taken <= 3)


@contextmanager
def watching(companion: Machine):
    """`pairtool watch`, once it is connected."""
    watch = subprocess.Popen([str(TOOL), "watch", "--json"], env=companion.environment, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    try:
        while json.loads(watch.stdout.readline())["type"] != "hello":
            pass
        yield watch
    finally:
        watch.kill()
        watch.wait()


def fill(database: Path, chat: str, count: int) -> None:
    """Puts messages into a chat of the host: sending them one by one would take longer than the benchmark."""
    with sqlite3.connect(database, timeout=30) as connection:
        key, begin = connection.execute("SELECT key, messages FROM chat WHERE id = ?", (chat,)).fetchone()
        connection.executemany(
            "INSERT INTO message (chat, number, id, role, text, createdAt) VALUES (?, ?, ?, ?, ?, ?)",
            ((key, begin + n, f"bench-{n}", "user" if n % 2 == 0 else "assistant", f"Message {n}: " + "lorem ipsum " * 20,
              "2026-01-01T00:00:00.000Z") for n in range(count)),
        )
        connection.execute("UPDATE chat SET messages = messages + ? WHERE key = ?", (count, key))
