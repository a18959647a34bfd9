"""The state in which the examples of each manual page are run, as document_scenes.py has it for the documents."""
import json
import pathlib

import document_scenes as scenes
from document_scenes import CAMERA, SERVICE, SERVICE_LINES, Scene, checked_host, key, question, question_id, then

SCREEN = "there is no desktop in the network; ScreenTests looks at one"

# An agent that asks, with an answer of each kind.
AGENT = scenes.AGENT.replace(
    '{"optionId": "n", "name": "No", "kind": "reject_once"}',
    '{"optionId": "n", "name": "No", "kind": "reject_once"}, {"optionId": "a", "name": "Yes, in this folder", "kind": "allow_always"},'
    ' {"optionId": "v", "name": "Never", "kind": "reject_always"}').replace('"lint", "docs", "tests"', '"lint", "docs", "test"')
assert "reject_always" in AGENT and '"test"]' in AGENT

BEDS = "'show beds'"


def studio(*words, agent=AGENT, kind="--acp --agent-command agent"):
    """A host with a chat about beds, from another directory than the project's."""
    def before(stage):
        stage.place = "."
        stage.program("agent", agent)
        serve(stage, *words, kind=kind)
        stage.shell("pairtool pair --qr ~/code.png --name desk")
        stage.shell("pairtool send --new --project garden 'show beds'")
        stage.shell("pairtool send 'show beds' 'Is the water pump or one of its valves stuck?'")
    return before


def serve(stage, *words, kind="--acp --agent-command agent"):
    stage.start(" ".join(["pairtool host --name Studio --lan --project garden --qr-file ~/code.png", kind, *words]), "^Advertised")


def asked(words="run the tests"):
    return question(words, BEDS)


def chat_id(stage):
    newest = stage.shell("pairtool chats list garden -q").split()[0]
    return {"ee5f": newest, "3f2a": newest}


def host_id(stage):
    hosts = [json.loads(line) for line in stage.shell("pairtool hosts --json").splitlines()]
    return {"5f1c": hosts[0]["id"], "192.168.1.5:7878": hosts[0]["name"]}


def files(**texts):
    """Files in the directory in which the commands run."""
    def before(stage):
        for name, text in texts.items():
            (stage.folder() / name.replace("_", ".")).write_text(text)
    return before


YES = [("[y/N]", "y\r")]
WATCHED = {"stops": True, "status": 130, "place": "watch"}


# A device's pages

def codex(stage):
    studio()(stage)
    stage.program("codex-acp", AGENT)


ACP = {
    "pairtool acp serve --project garden --agent codex": Scene(before=lambda stage: serve(stage, "--agent codex")),
}

def kitchen(stage):
    """A Jarvis host: reasons are for those."""
    jarvis(stage)
    stage.shell("pairtool hosts rename 127.0.0.1:9000 Kitchen")


def no_kitchen(stage):
    stage.shell("pairtool hosts forget Kitchen --yes")
    stage.leave("jarvis")


APPROVALS = {
    "pairtool approvals list": Scene(before=asked()),
    "pairtool approvals list --watch --json": Scene(until='"id"', **WATCHED),
    "pairtool approvals show 7b0e": Scene(swap=question_id),
    "pairtool approvals show 7b0e --json": Scene(swap=question_id),
    "pairtool approvals approve 7b0e": Scene(before=asked(), swap=question_id),
    "pairtool approvals approve 7b0e --always": Scene(before=asked(), swap=question_id),
    'pairtool approvals approve 7b0e --option "Yes, in this folder"': Scene(before=asked(), swap=question_id),
    "pairtool approvals reject 7b0e": Scene(before=asked(), swap=question_id),
    'pairtool approvals reject 7b0e --reason "wrong room" --host Kitchen': Scene(before=kitchen, swap=lambda stage: {"7b0e": "7B0E4A52"}),
    "pairtool approvals answer 7b0e": Scene(before=then(no_kitchen, asked("release it")), swap=question_id, typed=scenes.FORM),
    "pairtool approvals answer 7b0e --field branch=main --field checks=lint,test": Scene(before=asked("release it"), swap=question_id),
    "pairtool approvals answer 7b0e --dismiss": Scene(before=asked("release it"), swap=question_id),
    "pairtool approvals --watch --notify": Scene(before=asked(), until="Run the tests", **WATCHED),
}


def screenshots(stage):
    """On another machine, a directory in which a picture of a host's code will appear."""
    studio()(stage)
    stage.home("bob")
    pathlib.Path("/home/bob/Pictures/Screenshots").mkdir(parents=True)


def code_appears(stage):
    stage.shell("rm -f Pictures/Screenshots/* && cp /home/ada/code.png ~/Pictures/.new.png && mv ~/Pictures/.new.png ~/Pictures/Screenshots/new.png")
    return ""


AUTO = {
    "pairtool auto --watch ~/Pictures/Screenshots -- projects": Scene(user="bob", typed=[("Waiting for a code", code_appears)]),
    "pairtool auto --watch ~/Pictures/Screenshots": Scene(typed=[("Waiting for a code", code_appears)]),
    "PAIRTOOL_AUTO_OPTIONS=--watch /home/ada/Pictures/Screenshots --require verified": SERVICE,
    **{line: SERVICE for line in SERVICE_LINES if "outbox" not in line and "host" not in line},
    "pairtool auto --camera -- projects": CAMERA,
    "pairtool auto --screen --keep --require verified": SCREEN,
}


def changed(stage):
    """An agent has changed files in chats."""
    studio(agent="#!/bin/sh\ncat >/dev/null\necho '# by hand' >>beds/water.py\necho Done.\n", kind="--agent-command agent")(stage)


CHANGES = {"pairtool changes ee5f beds/water.py --no-pager": Scene(swap=chat_id)}

CHAT = {
    "pairtool chat": Scene(typed=[("›", "/quit\r")]),
    'pairtool chat "show beds"': Scene(typed=[("›", "And the lilies?\r"), ("Done.", ""), ("›", "/quit\r")]),
    "pairtool chat --project garden --auto smart-stop": Scene(typed=[("›", "Go on\r"), ("Done.", ""), ("›", "/quit\r")]),
}

CHATS = {
    'pairtool chats cancel "show beds"': Scene(before=asked()),
    "pairtool chats cancel 3f2a --host Studio": Scene(before=asked(), swap=chat_id),
}


def laptop(stage):
    """A second device is paired: another user's."""
    stage.shell("rm -rf /home/dora; pairtool host revoke laptop --yes || true")
    scenes.other_user("dora", "laptop", "Studio")(stage)


def own(stage):
    """This device is called “laptop”: the host lets a device revoke itself only."""
    stage.shell("pairtool devices revoke desk --yes 2>/dev/null; pairtool pair --qr ~/code.png --name laptop")


def own_id(stage):
    rows = [json.loads(line) for line in stage.shell("pairtool devices --json").splitlines()]
    return {"9a7d44a9": next(row["id"] for row in rows if row["isThisDevice"])}


def device_id(stage):
    rows = [json.loads(line) for line in stage.shell("pairtool host devices --json").splitlines()]
    found = next(row["id"] for row in rows if row["name"] == "laptop")
    return {"9a7d44a9": found, "5f1c0a9e": found}


DEVICES = {
    "pairtool devices revoke laptop": Scene(before=own, typed=YES),
    "pairtool devices revoke 9a7d44a9": Scene(before=own, swap=own_id, typed=YES),
    "pairtool devices": Scene(before=own),
}

DISCONNECT = {"pairtool disconnect --host Studio": Scene(before=lambda stage: stage.shell("pairtool pair --qr ~/code.png --name desk"))}

DISCOVER = {"pairtool discover --watch --json": Scene(until="Studio", **WATCHED)}
DOCTOR = {line: Scene(status=1) for line in ("pairtool doctor", "pairtool doctor --host Studio --json", "pairtool doctor --report report.json")}

HISTORY = {
    "pairtool history clear": Scene(typed=YES),
    "pairtool history clear --host Studio": Scene(before=lambda stage: stage.shell("pairtool messages 'show beds'"), typed=YES),
    "pairtool history backup ~/history.db": [Scene(), Scene(before=lambda stage: stage.shell("rm ~/history.db"))],
    "pairtool history backup /media/usb/history.db": Scene(
        before=lambda stage: stage.shell("mkdir ~/usb"), swap=lambda stage: {"/media/usb": "/home/ada/usb"}),
}

ROUTE = "https://studio.example:7879"
HOSTS = {
    "pairtool hosts default 5f1c": Scene(swap=host_id),
    "pairtool hosts rename 192.168.1.5:7878 Studio": Scene(
        before=lambda stage: stage.shell("pairtool hosts rename Studio Attic"), swap=host_id),
    'pairtool hosts rename 5f1c "Mac in the study"': Scene(swap=host_id),
    "pairtool hosts routes list": Scene(before=lambda stage: stage.shell("pairtool hosts rename 'Mac in the study' Studio")),
    "pairtool hosts routes remove Studio ssh://box": Scene(before=lambda stage: stage.shell("pairtool hosts routes add Studio ssh://box")),
    f"pairtool hosts routes remove 5f1c {ROUTE}": Scene(swap=host_id),
    "pairtool hosts routes order Studio ssh://box": Scene(before=lambda stage: stage.shell(
        f"pairtool hosts routes add Studio {ROUTE} && pairtool hosts routes add Studio ssh://box")),
    "pairtool hosts forget Studio": Scene(typed=YES),
    "pairtool devices revoke 9a7d44a9 --yes && pairtool hosts forget Studio --yes": Scene(
        before=own, swap=own_id),
    "pairtool hosts": Scene(before=lambda stage: stage.shell("pairtool pair --qr ~/code.png --name desk")),
}

MESSAGES = {"pairtool messages ee5f --all --json": Scene(swap=chat_id)}


def models(stage):
    stage.place = "."
    stage.fake("providers", port=11434)
    stage.start("pairtool host --name Studio --project garden --qr-file ~/code.png --agent openai --model qwen3:8b "
                "--url http://127.0.0.1:11434/v1", "^Advertised")
    stage.shell("pairtool pair --qr ~/code.png --name desk")


def waiting(stage):
    """A prompt waits: its host is off."""
    if "host" not in stage.programs:
        serve(stage)
        stage.shell("pairtool outbox send")
    stage.stop()
    stage.shell("pairtool send 'show beds' 'and now the pump' --queue")


def prompt_id(stage):
    return {"3f2a": stage.shell("pairtool outbox -q").split()[0]}


def back(stage):
    waiting(stage)
    serve(stage)


OUTBOX = {
    "pairtool outbox list": Scene(before=waiting),
    "pairtool outbox show 3f2a": Scene(swap=prompt_id),
    "pairtool outbox show 3f2a --json": Scene(swap=prompt_id),
    "pairtool outbox send": Scene(before=back),
    "pairtool outbox send --host Studio": Scene(before=back),
    "pairtool outbox send --again 3f2a": Scene(before=back, swap=prompt_id),
    "pairtool outbox remove 3f2a": Scene(before=waiting, swap=prompt_id),
    "pairtool outbox remove 3f2a --json": Scene(before=waiting, swap=prompt_id),
    **{line: SERVICE for line in SERVICE_LINES if "auto" not in line and "host" not in line},
}


def unpaired(stage):
    stage.place = "."
    stage.start("pairtool host --name Studio --lan --show-secrets --qr-file code.png", "^Pairing code(.|\\n)*Advertised|Advertised(.|\\n)*Pairing code")


def forgotten(stage):
    stage.shell("pairtool hosts forget --yes $(pairtool hosts -q)")


def mac(stage):
    forgotten(stage)
    stage.stop()
    stage.mac = stage.fake("copilotforge", address="192.168.1.5", port=7878)["more"]["code"]


PAIR = {
    "pairtool pair": Scene(typed=[("Six digits", lambda stage: stage.digits() + "\r")]),
    "pairtool pair --qr code.png": Scene(before=forgotten),
    "pairtool pair --url http://192.168.1.5:7878 --allow-legacy": Scene(before=mac, typed=[("ix digits", lambda stage: stage.mac + "\r")]),
}

PROJECTS = {"pairtool projects new garden": [Scene(), Scene(swap=lambda stage: {"garden": "orchard"})]}

QR = {"pairtool qr text.txt": Scene(before=files(text_txt="https://example.com"))}


def relay(stage):
    """A relay at two ports of this machine, in the place of one on the internet."""
    for port in (22067, 443):
        stage.start(f"strelaysrv -pools '' -status-srv '' -listen 127.0.0.1:{port} -keys /home/ada/.run", "relay://", place=f"relay{port}")


def here(stage):
    return {"relay.example": "127.0.0.1"}


RELAY = {
    "pairtool relay check relay://relay.example:22067": Scene(swap=here),
    "pairtool relay check relay://relay.example:443 --json": Scene(swap=here),
}


def pictures(stage):
    unpaired(stage)
    stage.shell("cp code.png screenshot.png && printf 'Bed 7' | pairtool qr -o bed.png && mv bed.png ticket.jpg")


SCAN = {"pairtool scan --camera --timeout 30s": CAMERA}

def changed_garden(stage):
    stage.place = "garden"
    (stage.folder() / "notes.md").write_text("Beds are watered at dusk.\n")


SEND = {'git diff | pairtool send "show beds"': Scene(before=changed_garden)}

STATUS = {"pairtool status --watch --json": Scene(until="Studio", **WATCHED)}
WATCH = {
    "pairtool watch": Scene(until=".", **WATCHED), "pairtool watch --json": Scene(until="{", **WATCHED),
    "pairtool watch --all-hosts": Scene(until=".", **WATCHED),
}


def worktree(title):
    """A chat whose agent works in a worktree."""
    def before(stage):
        stage.shell(f"pairtool send --new --project garden '{title}'")
    return before


def named(title):
    def swap(stage):
        rows = [json.loads(line) for line in stage.shell("pairtool worktrees --json").splitlines()]
        return {"show beds": title, "ee5f": next(row["chatId"] for row in rows if row["title"] == title)}
    return swap


WORKTREES = {
    "pairtool worktrees show ee5f --json": Scene(swap=named("show beds")),
    'pairtool worktrees show "show beds"': [Scene(), Scene(before=worktree("show lilies"), swap=named("show lilies"))],
    'pairtool worktrees remove "show beds"': Scene(typed=YES),
    "pairtool worktrees remove ee5f --force": Scene(before=worktree("show roses"), swap=named("show roses")),
    "pairtool worktrees remove ee5f": Scene(swap=named("show lilies"), typed=YES),
}

# The pages of hosts of other families


def aicli(stage):
    stage.place = "."
    token = stage.fake("aicli", "--answer", "'It is done.'", address="192.168.1.20", port=3001)["more"]["token"]
    stage.shell(f"printf 'http://192.168.1.20:3001?token={token}' | pairtool qr -o code.png && pairtool pair --qr code.png --allow-legacy"
                " && pairtool hosts rename $(pairtool hosts -q) Studio")


def mac_path(stage):
    return {"~/garden": "/Users/ada/garden"}


AICLI = {
    "pairtool aicli sessions new ~/garden --host Studio": Scene(swap=mac_path),
    "pairtool aicli sessions end ~/garden --host Studio": Scene(
        before=lambda stage: stage.shell("pairtool aicli sessions new garden"), swap=mac_path),
    "pairtool aicli sessions end web": Scene(before=lambda stage: stage.shell("pairtool aicli sessions new web")),
}


def jarvis(stage):
    stage.fake("jarvis", "--port", "9000", port=9000)
    stage.shell("pairtool pair --family jarvis --url http://127.0.0.1:9000 --fallback-url http://127.0.0.1:9000 --allow-legacy")


def lumi(stage):
    scenes.lumi(stage)
    stage.shell("pairtool pair Adas-MacBook-Pro --allow-legacy && pairtool hosts rename Adas-MacBook-Pro Studio && pairtool lumi sync")
    files(text_txt="hello", script_sh="uptime\n", script_scpt="return 1 + 1\n", commands_txt="ping\nvolume\n", prompt_md="Be brief.\n",
          key_txt="made-up\n")(stage)


def writer(stage):
    return {"Ada": "Writer"}


LUMI = {
    "pairtool lumi remote": Scene(typed=[("›", "volume 25%\r"), ("›", "\x04")]),
    "pairtool lumi remote shell uptime": Scene(typed=YES),
    "pairtool lumi remote applescript 'return 1 + 1'": Scene(typed=YES),
    "pairtool lumi remote screenshot --show": Scene(
        instead="env COLORTERM=truecolor pairtool lumi remote screenshot --show", tty=True),
    **{line: Scene(swap=writer) for line in (
        "pairtool lumi agents show Ada", "pairtool lumi agents show Ada --json", "pairtool lumi agents star Ada",
        "pairtool lumi agents star Ada --remove", "pairtool lumi agents restore Ada",
        "pairtool lumi agents edit Ada --model gpt-5 --temperature default", "pairtool lumi agents edit Ada --prompt-file prompt.md --json")},
    **{f"pairtool lumi agents create Kit {words}": Scene(before=lambda stage: stage.shell("pairtool lumi agents delete Kit --yes"))
       for words in ('--provider openai --model gpt-5 --prompt "Answer in one sentence."',
                     "--provider ollama --model qwen3:8b --prompt-file - < prompt.md")},
    "pairtool lumi agents edit Ada": Scene(swap=writer, tty=True),
    "pairtool lumi agents delete Kit": Scene(typed=YES),
    "pairtool lumi agents delete Ada --json": Scene(swap=writer, typed=YES),
    "pairtool lumi agents restore Ada --json": Scene(
        before=lambda stage: stage.shell("pairtool lumi agents delete Writer --yes"), swap=writer),
    "pairtool lumi keys set openai": Scene(typed=[("ey", "made-up\r")]),
}


# A host's page

def host(stage):
    scenes.guide(stage)
    stage.program("agent", AGENT)


def rule_id(stage):
    return {"3": str(json.loads(stage.shell("pairtool host rules --json").splitlines()[-1])["id"])}


def worktree_host(stage):
    """The host's agent works in worktrees from here on."""
    serve(stage, "--worktree", kind="--agent-command my-agent")


def session_id(stage):
    row = json.loads(stage.shell("pairtool host worktrees --json").splitlines()[0])
    return {"pairtool/ee5f0a12": row["branch"], "ee5f": row["chatId"]}


HOST = {
    **{line: checked_host() for line in (
        "pairtool host --lan --project ~/src/garden --agent claude",
        "pairtool host --agent openai --model qwen3:8b --url http://127.0.0.1:11434/v1",
        'pairtool host --project . --agent-command "my-agent --flag"')},
    "pairtool host pair": [Scene(before=studio(), typed=[("Pairing code", "\x03")], status=130),
                           Scene(before=serve, typed=[("Pairing code", "\x03")], status=130)],
    "pairtool host pair --read-only --expires 7d": Scene(typed=[("Pairing code", "\x03")], status=130),
    "pairtool host pair --qr-file ~/code.png": Scene(typed=[("Pairing code", "\x03")], status=130),
    "pairtool host devices": Scene(before=laptop),
    "pairtool host revoke laptop": Scene(typed=YES),
    "pairtool host revoke 5f1c0a9e": Scene(before=laptop, swap=device_id, typed=YES),
    "pairtool host permissions laptop --add approve": Scene(before=laptop),
    "pairtool host approvals list": Scene(before=asked()),
    "pairtool host approvals show 7b0e": Scene(swap=question_id),
    "pairtool host approvals show 7b0e --json": Scene(swap=question_id),
    **{f"pairtool host approvals {words}": Scene(before=asked(), swap=question_id) for words in (
        "approve 7b0e", "approve 7b0e --always", 'approve 7b0e --option "Yes, in this folder"', "reject 7b0e", "reject 7b0e --never")},
    "pairtool host approvals answer 7b0e": Scene(before=asked("release it"), swap=question_id, typed=scenes.FORM),
    "pairtool host approvals answer 7b0e --field branch=main": Scene(before=asked("release it"), swap=question_id),
    "pairtool host rules remove 3": Scene(swap=rule_id),
    "pairtool host rules remove 3 --json": Scene(swap=rule_id),
    "pairtool host worktrees list": Scene(before=then(worktree_host, worktree("show lilies"))),
    "pairtool host worktrees show ee5f": Scene(swap=session_id),
    "pairtool host worktrees show pairtool/ee5f0a12 --json": Scene(swap=session_id),
    "pairtool host worktrees remove ee5f": Scene(swap=session_id, typed=YES),
    "pairtool host worktrees remove ee5f --force": Scene(before=worktree("show roses"), swap=session_id),
    "pairtool host changes ee5f": Scene(before=worktree("show ferns"), swap=session_id),
    "pairtool host changes ee5f --stat": Scene(swap=session_id),
    "pairtool host notify test": Scene(before=scenes.notified),
    "systemctl --user daemon-reload": SERVICE, "systemctl --user enable --now pairtool-host": SERVICE,
    "PAIRTOOL_HOST_OPTIONS=--lan --project /home/ada/garden": SERVICE,
    "PATH=/home/ada/tools/bin:/usr/local/bin:/usr/bin:/bin": SERVICE,
}


def page(name):
    return f"share/man/pairtool{name}.1"


SCENES = {
    page(""): (unpaired, {"pairtool doctor": Scene(status=1)}),
    **{page(f"-{name}"): found for name, found in {
        "acp": (codex, ACP), "aicli": (aicli, AICLI), "approvals": (studio("--always-by devices"), APPROVALS), "auto": (screenshots, AUTO),
        "changes": (changed, CHANGES), "chat": (studio(), CHAT), "chats": (studio(), CHATS), "devices": (studio(), DEVICES),
        "disconnect": (studio(), DISCONNECT), "discover": (studio(), DISCOVER), "doctor": (studio(), DOCTOR), "export": (studio(), {}),
        "history": (studio(), HISTORY), "host": (host, HOST), "hosts": (studio(), HOSTS), "jarvis": (jarvis, {}), "lumi": (lumi, LUMI),
        "messages": (studio(), MESSAGES), "models": (models, {}), "outbox": (studio(), OUTBOX), "pair": (unpaired, PAIR),
        "projects": (studio(), PROJECTS), "qr": (lambda stage: None, QR), "relay": (relay, RELAY), "scan": (pictures, SCAN),
        "search": (studio(), {}), "send": (studio(), SEND), "status": (studio(), STATUS), "watch": (studio(), WATCH),
        "worktrees": (studio("--worktree"), WORKTREES),
    }.items()},
}
