"""The state in which each document's command lines are run, for scripts/run-documents.

A document has a function that opens its stage, and a scene for each command line that needs more than to be run by ada in
her project: a string is the reason why it is not run here. Scenes of the same command line are taken in their order.
"""
import dataclasses
import http.server
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Support"))
import terminal  # noqa: E402

# What ends a program that does not end: far above what a slow machine needs.
PATIENCE = 120


@dataclasses.dataclass
class Scene:
    before: typing.Callable | None = None
    # What is typed at a terminal: each text once the one before it was shown.
    typed: typing.Sequence[tuple[str, typing.Any]] = ()
    status: int = 0
    # It goes on while the next ones run, from when it has printed this.
    until: str | None = None
    # What runs in its place is stopped first.
    place: str = "host"
    # It runs at a terminal, without anything being typed.
    tty: bool = False
    # It is stopped once it has printed that, with this status.
    stops: bool = False
    user: str | None = None
    # Texts of the document and what stands for them here.
    swap: typing.Callable | None = None
    # Another command line in its place, and why.
    instead: str | None = None


def host(**more):
    """A host in the background, until the next one."""
    return Scene(until="^Advertised", **more)


def checked_host(**more):
    return host(stops=True, **more)


def interruptible():
    """In a program that is about to be started: Ctrl-C ends it, also where this runs in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Program:
    """A program in the background, and what it has printed."""

    def __init__(self, command, environment, folder):
        self.process = subprocess.Popen(["sh", "-c", "exec 2>&1; exec " + command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment, cwd=folder, start_new_session=True, preexec_fn=interruptible)
        self.lines, self.changed, self.ended = [], threading.Condition(), False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.decode(errors="replace").rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait(self, pattern):
        """Returns whether it has printed what the pattern finds, before it ended."""
        with self.changed:
            self.changed.wait_for(lambda: re.search(pattern, self.text, re.M) or self.ended, PATIENCE)
            return bool(re.search(pattern, self.text, re.M))

    def stop(self):
        """Interrupts it as Ctrl-C does. Returns its status."""
        try:
            os.killpg(self.process.pid, signal.SIGINT)
        except ProcessLookupError:
            pass
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            status = self.process.wait()
        with self.changed:
            self.changed.wait_for(lambda: self.ended, 5)
        return status


class Stage:
    def __init__(self, scenes, root, build):
        self.scenes, self.root, self.build = scenes, root, build
        self.programs, self.servers = {}, []
        self.name, self.used, self.user = None, {}, "ada"
        # The folder of a home directory in which commands run.
        self.place = "garden"

    # The stage of a document

    def open(self, name):
        self.close()
        for home in pathlib.Path("/home").iterdir():
            subprocess.run(["rm", "-rf", str(home)], check=True)
        self.name, self.used, self.user, self.place = name, {}, "ada", "garden"
        self.home("ada")
        for folder in ("garden", "src/garden"):
            self.project(f"/home/ada/{folder}")
        self.scenes[name][0](self)

    def close(self):
        for name in reversed(list(self.programs)):
            self.stop(name)
        self.leave()

    def home(self, user):
        home = pathlib.Path("/home") / user
        (home / "bin").mkdir(parents=True)
        (home / ".run").mkdir(mode=0o700)
        for tool in ("pairtool", "companion-fakes"):
            (home / "bin" / tool).symlink_to(self.build / tool)
        return home

    def project(self, path, files=()):
        files = dict(files) or {"beds/water.py": 'def water(bed, litres):\n    """Opens the valve of a bed."""\n'
                                                 "    valve(bed).open(litres)\n", "notes.md": "Beds are watered at dawn.\n"}
        for name, text in files.items():
            file = pathlib.Path(path) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.shell(f"cd {path} && git init -q -b main && git add -A && git commit -qm 'Begin'")

    def program(self, name, text):
        """A program that ada has installed."""
        file = pathlib.Path("/home/ada/bin") / name
        file.write_text(text)
        file.chmod(0o755)

    # Running things

    def environment(self, user=None):
        home = f"/home/{user or self.user}"
        return {"HOME": home, "PATH": f"{home}/bin:/usr/local/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": f"{home}/.run",
                "USER": user or self.user, "EDITOR": f"{home}/bin/edit", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", "SWIFT_BACKTRACE": "enable=no",
                "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
                "GIT_COMMITTER_EMAIL": "ada@example.org"}

    def folder(self, user=None):
        home = pathlib.Path("/home") / (user or self.user)
        return home / self.place if (home / self.place).exists() else home

    def shell(self, command, user=None, status=0):
        """Runs a command that no document has. Returns what it printed."""
        answer = subprocess.run(["sh", "-c", command], env=self.environment(user), cwd=self.folder(user), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, preexec_fn=interruptible)
        text = answer.stdout.decode(errors="replace")
        if answer.returncode != status:
            raise AssertionError(f"{command}: {answer.returncode}: {text}")
        return text

    def start(self, command, until, place="host", user=None, folder=None):
        """Starts a program that no document has."""
        self.stop(place)
        program = self.programs[place] = Program(command, self.environment(user), folder or self.folder(user))
        if not program.wait(until):
            raise AssertionError(f"{command}: {program.text}")
        return program

    def stop(self, place="host"):
        program = self.programs.pop(place, None)
        return program.stop() if program else 0

    def leave(self, *families):
        """Ends fakes, and frees their addresses."""
        for family in families:
            self.stop(family)
        for server, address in self.servers:
            # Otherwise it stays open for who waits at it.
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            if address != "127.0.0.1":
                subprocess.run(["ip", "address", "del", f"{address}/32", "dev", "lo"], check=True)
        self.servers = []

    def fake(self, family, *words, address="127.0.0.1", port):
        """A fake host of another family, at an address of this network. Returns what it said of itself."""
        program = self.start(f"companion-fakes {family} {' '.join(words)}", r"^\{", place=family)
        told = json.loads(program.lines[0])
        if port and (address, port) != ("127.0.0.1", told["port"]):
            self.forward(address, port, told["port"])
        return told

    def forward(self, address, port, target):
        """Passes connections on to a port of the loopback interface, to which fakes listen."""
        if address != "127.0.0.1":
            subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
        server = socket.create_server((address, port))
        self.servers.append((server, address))

        def copy(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        def serve():
            while True:
                try:
                    near, _ = server.accept()
                    far = socket.create_connection(("127.0.0.1", target))
                except OSError:
                    return
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

    def digits(self, place="host"):
        """The six digits that a host shows now."""
        return "".join(re.findall(r"^Pairing code:\s+(\d{3}) (\d{3})", self.programs[place].text, re.M)[-1])

    # The scenes

    def scene(self, entry):
        found = self.scenes[self.name][1].get(entry.command, Scene())
        if isinstance(found, list):
            found = found[min(self.used.get(entry.command, 0), len(found) - 1)]
        return found

    def reason(self, entry):
        found = self.scene(entry)
        if isinstance(found, str):
            self.used[entry.command] = self.used.get(entry.command, 0) + 1
            return found
        return None

    def unused(self):
        return [command for command in self.scenes[self.name][1] if command not in self.used]

    def play(self, entry):
        """Returns what is wrong, if anything is, and the printed lines."""
        scene = self.scene(entry)
        self.used[entry.command] = self.used.get(entry.command, 0) + 1
        try:
            if scene.before:
                scene.before(self)
            self.user = scene.user or self.user
            command = scene.instead or entry.command
            swaps = scene.swap(self) if scene.swap else {}
            for old, new in swaps.items():
                command = command.replace(old, new)
            status, lines = self.perform(command, scene)
            for old, new in swaps.items():
                lines = [line.replace(new, old) for line in lines]
        except (AssertionError, LookupError, OSError, subprocess.SubprocessError) as error:
            return f"{type(error).__name__}: {error}", []
        if status != scene.status:
            return f"ends with {status} in place of {scene.status}", lines
        return None, lines

    def perform(self, command, scene):
        if scene.until:
            self.stop(scene.place)
            program = Program(command, self.environment(), self.folder())
            self.programs[scene.place] = program
            if not program.wait(scene.until):
                return program.process.wait(PATIENCE), program.lines
            lines = list(program.lines)
            return (self.stop(scene.place) if scene.stops else 0), lines
        if scene.typed or scene.tty:
            return self.type(command, scene.typed)
        answer = subprocess.run(["sh", "-c", command], env=self.environment(), cwd=self.folder(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, preexec_fn=interruptible)
        text = answer.stdout.decode(errors="replace")
        return answer.returncode, text.rstrip("\n").split("\n") if text else []

    def type(self, command, steps):
        """Runs a command at a terminal, and types each text once that before it is shown."""
        variables = [f"{name}={value}" for name, value in self.environment().items()]
        child, end = terminal.begin(["env", "-i", "--default-signal=INT", f"--chdir={self.folder()}", *variables,
                                        "sh", "-c", "exec " + command], 120, 40)
        shown, place, steps = b"", 0, list(steps)
        while select.select([end], [], [], PATIENCE)[0]:
            if not (part := terminal.read(end)):
                break
            shown += part
            while steps and (found := shown.find(steps[0][0].encode(), place)) >= 0:
                awaited, typed = steps.pop(0)
                place = found + len(awaited.encode())
                os.write(end, (typed(self) if callable(typed) else typed).encode())
        else:
            os.kill(child, signal.SIGKILL)
        os.close(end)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        # As a shell has it.
        status = 128 - status if status < 0 else status
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07", "", terminal.text(shown))
        lines = [line.split("\r")[-1] for line in text.rstrip("\n").split("\n")]
        return status, lines + [f"“{awaited}” was not shown" for awaited, _ in steps]


# An agent that asks where a prompt has the word: for leave to run the tests, or for values for a release.
AGENT = r'''#!/usr/bin/python3
import json, sys
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
sessions, waiting = 0, {}
def answer(turn):
    send({"method": "session/update", "params": {"sessionId": waiting.pop(turn), "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}}}})
    send({"id": turn, "result": {"stopReason": "end_turn"}})
for line in sys.stdin:
    message = json.loads(line)
    method, number, p = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}})
    elif method == "session/new":
        sessions += 1
        send({"id": number, "result": {"sessionId": str(sessions)}})
    elif method == "session/prompt":
        session, text = p["sessionId"], "".join(block.get("text", "") for block in p["prompt"])
        waiting[number] = session
        if "release" in text:
            send({"id": number + 1000, "method": "elicitation/create", "params": {
                "sessionId": session, "mode": "form", "message": "What is released?", "requestedSchema": {"type": "object",
                "properties": {"branch": {"type": "string", "title": "Branch"}, "checks": {"type": "array", "title": "Checks",
                "items": {"type": "string", "enum": ["lint", "docs", "tests"]}}}, "required": ["branch"]}}})
        elif "tests" not in text:
            answer(number)
        else:
            send({"id": number + 1000, "method": "session/request_permission", "params": {"sessionId": session, "toolCall": {
                "toolCallId": "t", "title": "Run the tests", "kind": "execute", "status": "pending",
                "content": [], "rawInput": {"command": "swift test"}},
                "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "z", "name": "Yes, and commit", "kind": "allow_once"},
                            {"optionId": "n", "name": "No", "kind": "reject_once"}]}})
    elif method == "session/cancel":
        pass
    elif method is None and number is not None:
        if number - 1000 in waiting: answer(number - 1000)
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "unknown method"}})
'''
# A command that reads a prompt and prints an answer.
PLAIN = "#!/bin/sh\nread -r prompt\necho \"You said: $prompt\"\n"


def question(words="run the tests", chat="--new"):
    """A question of the host's agent waits."""
    def before(stage):
        stage.stop("asking")
        stage.start(f"pairtool send {chat} '{words}'", r"To answer|The agent asks", place="asking")
    return before


def question_id(stage):
    return {"7b0e": stage.shell("pairtool host approvals -q").split()[0][:8]}


def key(name):
    """A key: in the first 0.3 seconds of a question, none counts."""
    return lambda stage: time.sleep(1) or name


def asking_host(stage):
    stage.program("asking-agent", AGENT)
    stage.start("pairtool host --name Shed --lan --project ~/garden --qr-file ~/code.png --acp --agent-command asking-agent",
                "^Advertised")
    if "Shed" not in stage.shell("pairtool hosts; true"):
        stage.shell("pairtool pair --qr ~/code.png --name desk")


def other_user(user, name, place="Shed"):
    """Another machine, in the place of which another user stands, is paired with the host."""
    def before(stage):
        if pathlib.Path(f"/home/{user}").exists():
            return
        stage.home(user)
        program = stage.start("pairtool host pair --show-secrets", r"^Pairing code", place="code")
        digits = "".join(re.findall(r"(\d{3}) (\d{3})", program.text)[-1])
        stage.shell(f"echo {digits} | pairtool pair --code-stdin --name {name} {place}", user=user)
        stage.stop("code")
    return before


def then(*steps):
    def before(stage):
        for step in steps:
            step(stage)
    return before


# README.md

def readme(stage):
    for name in ("copilot", "claude-agent-acp", "gemini", "codex-acp", "opencode"):
        stage.program(name, AGENT)
    stage.program("my-agent", PLAIN)


def cleo_and_mac(stage):
    stage.stop()
    stage.home("cleo")
    stage.mac = stage.fake("copilotforge", address="192.168.1.20", port=7878)


def host_of_lan(stage):
    stage.stop()
    stage.start("pairtool host --lan --show-secrets", "^Pairing code(.|\\n)*Advertised|Advertised(.|\\n)*Pairing code")
    stage.home("bob")


SERVICE = "a service manager is not here; InstallTests checks the units"
README = {
    "sudo apt install ./pairtool_0.1.0_amd64.deb": "scripts/test-package installs it",
    "scripts/install": "InstallTests runs it",
    "scripts/demo": "scripts/test runs it", "scripts/demo --all": "scripts/test runs it",
    "scripts/demo --agent": "scripts/test runs it",
    "pairtool host --qr-file ~/code.png": host(),
    "pairtool discover": Scene(before=host_of_lan, user="bob"),
    "pairtool pair": Scene(typed=[("Six digits", lambda stage: stage.digits() + "\r")]),
    "pairtool chat": [Scene(user="ada", typed=[("›", "help\r"), ("search", "/quit\r")]),
                      Scene(typed=[("Number", "1\r"), ("›", "hello\r"), ("hello", "/quit\r")])],
    "pairtool messages list --offline": Scene(before=Stage.stop),
    "pairtool pair --url http://192.168.1.20:7878": Scene(
        before=cleo_and_mac, user="cleo", typed=[("[y/N]", "y\r"), ("ix digits", lambda stage: stage.mac["more"]["code"] + "\r")]),
    **{f"pairtool host --lan --project ~/src/garden --agent {name}": checked_host(
        user="ada", before=lambda stage: stage.leave("copilotforge"))
       for name in ("copilot", "claude", "gemini", "codex", "opencode")},
    "pairtool host --lan --agent openai --model qwen3:8b --url http://127.0.0.1:11434/v1": checked_host(),
    'pairtool host --lan --project ~/src/garden --agent-command "my-agent --flag"': checked_host(),
    "pairtool host approvals": Scene(before=then(asking_host, question())),
    "pairtool host pair --expires 7d --read-only": Scene(typed=[("Pairing code", "\x03")], status=130),
    "pairtool host revoke laptop": Scene(before=other_user("dora", "laptop"), typed=[("[y/N]", "y\r")]),
    "systemctl --user daemon-reload": SERVICE,
    "systemctl --user enable --now pairtool-host && pairtool host pair": SERVICE,
    "scripts/bench qr-public qrcodes/detection": "the pictures are a download of 200 MB, without terms of use",
    "scripts/test": "it is what runs this", "scripts/test Doctor": "it is what runs this",
}


# docs/guide.md

def guide(stage):
    stage.place = "."
    pathlib.Path("/home/ada/samples").symlink_to(stage.root / "samples")
    stage.program("my-agent", PLAIN)
    # It writes into a file of the project.
    stage.program("gardener", "#!/bin/sh\necho '# by hand' >>beds/water.py\necho Done.\n")
    for name in ("claude-agent-acp", "codex-acp"):
        stage.program(name, AGENT)
    pathlib.Path("/home/ada/registry.json").write_text(json.dumps({"version": "1.0.0", "agents": [{
        "id": "NAME", "name": "An agent", "version": "1.0.0", "description": "It answers.",
        "distribution": {"npx": {"package": "an-agent@1.0.0"}}}]}))
    stage.program("npx", AGENT)


def shed(*words):
    def before(stage):
        stage.start(" ".join(["pairtool host --name Shed --project garden", *words]), "^Advertised")
    return before


def watched_picture(stage):
    """A host on the network; on another machine, a directory in which a picture of its code will appear."""
    shed("--lan", "--qr-file ~/code.png")(stage)
    stage.home("bob")
    pathlib.Path("/home/bob/Pictures/Screenshots").mkdir(parents=True)


def picture_appears(stage):
    stage.shell("cp /home/ada/code.png ~/Pictures/.new.png && mv ~/Pictures/.new.png ~/Pictures/Screenshots/new.png")
    return ""


def only_desk(stage):
    """The other machine is gone again."""
    stage.shell("pairtool devices revoke --yes $(pairtool devices --json | python3 -c '"
                "import json, sys\nprint(*(row[\"id\"] for row in map(json.loads, sys.stdin) if row[\"isThisDevice\"]))')", user="bob")


def changed_beds(stage):
    """The agent of a chat has changed a file."""
    shed("--agent-command gardener")(stage)
    stage.shell("pairtool send 'show beds' 'write it down'")


def shed_is_away(stage):
    """The agent has said something about pumps, and the host is off."""
    stage.stop("asking")
    shed("--agent-command my-agent")(stage)
    stage.shell("pairtool send 'show beds' 'The bed by the wall is dry. In winter the pumps are opened by hand when the valve is stuck, "
                "and nobody has to get up at dawn.' && pairtool chats garden")
    stage.stop()


def two_hosts(stage):
    """The host is back, and another user's is paired too."""
    shed()(stage)
    stage.shell("pairtool outbox send")
    stage.home("carl")
    stage.project("/home/carl/shop")
    stage.start("pairtool host --name Studio --project shop --port 0 --tls-port 0 --qr-file ~/code.png", "^Advertised",
                place="other", user="carl")
    stage.shell("pairtool pair --qr /home/carl/code.png --name desk && pairtool chats new --host Studio shop --title Cart")


def shed_again(stage):
    """The other host is gone, and forgotten."""
    stage.stop("other")
    stage.shell("pairtool hosts forget Studio --yes")


def notified(stage):
    """A host whose notifications go to a server of this network."""
    class Taker(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shed(f"--notify 'ntfy://127.0.0.1:{server.server_port}/TOPIC?secure=false'")(stage)


def worktree(stage):
    """A chat whose agent works in a worktree."""
    shed("--agent-command my-agent", "--worktree")(stage)
    stage.shell("pairtool send --new 'water the beds' --project garden")


BEDS_CHAT = "'show beds'"
FORM = [("show again: ", key("y")), ("Branch", "main\r"), ("Checks", "1\r"), ("[y]", key("y"))]
BEDS = {"show beds": "water the beds"}
SERVICE_LINES = {line: SERVICE for line in (
    "systemctl --user daemon-reload", "systemctl --user enable --now pairtool-auto",
    "systemctl --user enable --now pairtool-outbox", "systemctl --user enable --now pairtool-host && pairtool host pair")}
CAMERA = "there is no camera in the network; FrameScanTests reads such streams"
GUIDE = {
    "scripts/install": "InstallTests runs it", "scripts/install --prefix /opt/tool": "InstallTests runs it",
    "scripts/install --uninstall": "InstallTests runs it",
    "pairtool host --name Shed --project garden --qr-file ~/code.png": host(),
    "pairtool scan samples/damaged.png": Scene(status=3),
    "pairtool scan samples/foreign-wifi.png": Scene(status=3),
    "ffmpeg -i rtsp://camera.local/stream -f yuv4mpegpipe -pix_fmt yuv420p - | pairtool scan --frames -": CAMERA,
    "curl -sN http://camera.local/video.mjpeg | pairtool scan --frames - --timeout 30s": CAMERA,
    "pairtool auto --watch ~/Pictures/Screenshots -- projects": Scene(
        before=watched_picture, user="bob", typed=[("Waiting for a code", picture_appears)],
        swap=lambda stage: {"/home/ada/Pictures": "/home/bob/Pictures"}),
    "pairtool projects": Scene(before=only_desk, user="ada"),
    'pairtool changes "show beds"': Scene(before=changed_beds),
    "pairtool approvals": Scene(before=then(asking_host, question(chat=BEDS_CHAT))),
    "pairtool approvals show 7b0e": [Scene(swap=question_id), Scene(before=question("release it", BEDS_CHAT), swap=question_id)],
    "pairtool approvals approve 7b0e": Scene(swap=question_id),
    "pairtool approvals approve 7b0e --option z": Scene(before=question(chat=BEDS_CHAT), swap=question_id),
    "pairtool approvals --watch --notify": Scene(before=question(chat=BEDS_CHAT), until="Run the tests", place="watch", stops=True, status=130),
    "pairtool approvals answer 7b0e": Scene(swap=question_id, typed=FORM),
    "pairtool approvals answer 7b0e --field branch=main --field checks=lint,docs": Scene(before=question("release it", BEDS_CHAT), swap=question_id),
    "pairtool approvals answer 7b0e --dismiss": Scene(before=question("release it", BEDS_CHAT), swap=question_id),
    "pairtool chats garden": [Scene(), Scene(before=shed_is_away)],
    "pairtool chats --all-hosts": Scene(before=two_hosts),
    "pairtool status": Scene(before=shed_again, tty=True),
    "pairtool host --project ~/src/garden": checked_host(),
    "pairtool host --project ~/src/garden --lan": checked_host(),
    "pairtool host --project ~/src/garden --lan --legacy": checked_host(),
    "pairtool host --project ~/src/garden --agent claude": checked_host(),
    "pairtool host --agent openai --model qwen3:8b --url http://127.0.0.1:11434/v1": checked_host(),
    'pairtool host --project . --agent-command "my-agent --flag"': checked_host(),
    "pairtool host --project . --agent claude --agent codex": host(),
    "pairtool host --project . --agent NAME --registry registry.json": Scene(
        before=Stage.stop, typed=[("Run it?", "y\r"), ("Advertised", "\x03")]),
    "pairtool host approvals": Scene(before=then(asking_host, question(chat=BEDS_CHAT))),
    "pairtool host approvals show 7b0e": Scene(swap=question_id),
    "pairtool host approvals approve 7b0e": Scene(swap=question_id),
    "pairtool host approvals approve 7b0e --option z": Scene(before=question(chat=BEDS_CHAT), swap=question_id),
    "pairtool host approvals answer 7b0e": Scene(before=question("release it", BEDS_CHAT), swap=question_id,
                                                 typed=FORM),
    "pairtool host --lan --agent claude --notify ntfy://ntfy.sh/TOPIC": checked_host(),
    "pairtool host notify test": Scene(before=notified),
    "pairtool worktrees": Scene(before=worktree),
    'pairtool worktrees show "show beds"': Scene(swap=lambda stage: BEDS),
    'pairtool worktrees remove "show beds"': Scene(swap=lambda stage: BEDS, typed=[("[y/N]", "y\r")]),
    "pairtool host pair --expires 7d --permission chat.send": Scene(typed=[("Pairing code", "\x03")], status=130),
    "pairtool host permissions laptop --read-only": Scene(before=other_user("dora", "laptop")),
    "pairtool host revoke laptop": Scene(typed=[("[y/N]", "y\r")]),
    **SERVICE_LINES,
}


# docs/reach.md

# In the place of a login on another machine: the connection that ssh -W would have from there.
SSH = """#!/usr/bin/python3
import os, socket, sys, threading
host, port = sys.argv[sys.argv.index("-W") + 1].rsplit(":", 1)
far = socket.create_connection((host, int(port)))
def forward():
    while data := os.read(0, 65536): far.sendall(data)
    far.shutdown(socket.SHUT_WR)
threading.Thread(target=forward, daemon=True).start()
while data := far.recv(65536): os.write(1, data)
"""


def reach(stage):
    stage.program("ssh", SSH)
    stage.start("pairtool host --name Studio --qr-file ~/code.png", "^Advertised")
    stage.shell("pairtool pair --qr ~/code.png --name desk")


RELAY = "ReachTests runs such a relay between networks of its own"
REACH = {
    "pairtool doctor --host Studio": Scene(status=1),
    "sudo apt install syncthing-relaysrv pairtool && sudo systemctl disable --now syncthing-relaysrv": RELAY,
    "pairtool relay unit | sudo tee /etc/systemd/system/pairtool-relay.service": RELAY,
    "sudo systemctl enable --now pairtool-relay && sudo journalctl -u pairtool-relay | grep relay://": RELAY,
}


# docs/editors.md

def editors(stage):
    stage.start("pairtool host --name Shed --show-secrets", "^Pairing code(.|\\n)*Advertised|Advertised(.|\\n)*Pairing code")


EDITORS = {"pairtool pair": Scene(typed=[("Six digits", lambda stage: stage.digits() + "\r")])}


# docs/troubleshooting.md

TROUBLE = {"pairtool doctor": Scene(status=1)}


# docs/hosts

def forgotten(stage):
    stage.shell("pairtool hosts forget --yes $(pairtool hosts -q)")


def mac(stage):
    """A Mac whose code is in a picture, as pairtool draws it."""
    stage.leave("copilotforge")
    told = stage.fake("copilotforge", address="192.168.1.20", port=7878)
    stage.mac = told["more"]["code"]
    payload = json.dumps({"protocol": "copilotforge-pair-v1", "code": stage.mac})
    stage.shell(f"echo '{payload}' | pairtool qr -o code.png")


MAC = {
    "pairtool pair --url http://192.168.1.20:7878 --qr code.png": Scene(typed=[("[y/N]", "y\r")]),
    "pairtool pair --url http://192.168.1.20:7878": Scene(
        before=then(forgotten, mac), typed=[("[y/N]", "y\r"), ("ix digits", lambda stage: stage.mac + "\r")]),
}


def aicli(stage):
    stage.token = stage.fake("aicli", "--answer", "'It is done.'", address="192.168.1.20", port=3001)["more"]["token"]
    stage.shell(f"printf 'http://192.168.1.20:3001?token={stage.token}' | pairtool qr -o code.png")


def aicli_with_tls(stage):
    stage.leave("aicli")
    stage.token = stage.fake("aicli", "--tls", "--answer", "'It is done.'", address="192.168.1.20", port=3001)["more"]["token"]
    forgotten(stage)


TOKEN = ("3001: ", lambda stage: stage.token + "\r")
AICLI = {
    "pairtool pair --family aicli --url http://192.168.1.20:3001": Scene(before=forgotten, typed=[("[y/N]", "y\r"), TOKEN]),
    "pairtool pair --family aicli --url https://192.168.1.20:3001": Scene(
        before=aicli_with_tls, typed=[("[y/N]", "y\r"), TOKEN]),
    "pairtool chat web --auto hybrid --auto-messages 5": Scene(typed=[("›", "Go on\r"), ("It is done", ""), ("›", "/quit\r")]),
}


def jarvis(stage):
    stage.fake("jarvis", "--port", "9000", port=9000)


def lumi(stage):
    stage.fake("lumi", "--advertise", "lo", "--port", "47285", port=47285)
    stage.fake("providers", port=11434)
    # In the place of an editor.
    stage.program("edit", "#!/bin/sh\nexec sed -i 's/plainly/briefly/' \"$1\"\n")


LUMI = {
    "pairtool pair Adas-MacBook-Pro": Scene(typed=[("[y/N]", "y\r")]),
    "pairtool lumi remote": Scene(typed=[("›", "volume 25%\r"), ("›", "mute\r"), ("›", "\x04")]),
    "pairtool lumi remote shell uptime": Scene(typed=[("[y/N]", "y\r")]),
}

SCENES = {
    "README.md": (readme, README),
    "docs/guide.md": (guide, GUIDE),
    "docs/reach.md": (reach, REACH),
    "docs/editors.md": (editors, EDITORS),
    "docs/troubleshooting.md": (lambda stage: None, TROUBLE),
    "docs/hosts/copilotforge.md": (mac, MAC),
    "docs/hosts/aicli.md": (aicli, AICLI),
    "docs/hosts/jarvis.md": (jarvis, {}),
    "docs/hosts/lumi.md": (lumi, LUMI),
}
