"""1,000,000 messages in 10,000 chats: pairtool beside sqlite3 and llm (PyPI). See scripts/bench."""
import itertools
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRITER = ROOT / ".build/release/history-writer"
CHATS, EACH = 10_000, 100
RUNS = 11
WORD, PHRASE = "certificate", "plain HTTP"
HOST = "0123456789abcdef"
# What llm stores for one answer; its triggers fill its index.
LLM = """
import sqlite3, sys, sqlite_utils
from llm.migrations import migrate
path, texts = sys.argv[1:]
migrate(sqlite_utils.Database(path))
database = sqlite3.connect(path)
lines = [line.rstrip("\\n") for line in open(texts, encoding="utf-8")]
database.execute("INSERT INTO conversations (id, name, model) VALUES ('c', 'chat', 'm')")
database.executemany(
    "INSERT INTO responses (id, model, prompt, response, conversation_id, datetime_utc) VALUES (?, 'm', ?, ?, 'c', '2026-01-01')",
    ((f"{i:08}", lines[i], lines[i + 1]) for i in range(0, len(lines) - 1, 2)))
database.commit()
"""


def texts():
    """Messages of words as our documents have them, from a seed."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    words = [word for path in sorted(documents) for word in re.findall(r"\S+", path.read_text(encoding="utf-8"))]
    dice = random.Random(1)
    for _ in range(CHATS * EACH):
        start, count = dice.randrange(len(words)), min(200, 1 + int(dice.expovariate(1 / 45)))
        yield " ".join(words[start:start + count])


def fill(work: Path) -> None:
    """Writes the texts, and keeps them as one host's chats."""
    def chats():
        with open(work / "texts", "w", encoding="utf-8") as plain:
            messages = texts()
            for number in range(CHATS):
                part = list(itertools.islice(messages, EACH))
                plain.writelines(text + "\n" for text in part)
                yield f"chat-{number:05}", part[0][:40], part

    keep(work, chats())
    pair(work)


def keep(work: Path, chats) -> None:
    """Writes chats to the history: an id, a title, and the texts of prompts and answers."""
    with open(work / "chats", "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"id": name, "title": title, "messages": messages}) + "\n" for name, title, messages in chats)
    subprocess.run([WRITER, work / "state/pairtool/history.db", "fill", work / "chats"], check=True, stdout=subprocess.DEVNULL)


def environment(work: Path) -> dict:
    return {**os.environ, "XDG_DATA_HOME": str(work / "data"), "XDG_STATE_HOME": str(work / "state"),
            "XDG_CONFIG_HOME": str(work / "config"), "LLM_USER_PATH": str(work / "llm")}


def pair(work: Path) -> None:
    """Writes down the host as one that is paired, and never asked."""
    record = {"id": HOST, "name": "Studio", "family": "copilotforge", "trust": "legacy", "endpoint": {"address": "127.0.0.1", "port": 7878},
              "deviceID": HOST, "pairedAt": "2026-01-01T00:00:00.000Z"}
    path = work / "data/pairtool/hosts.json"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(json.dumps({"version": 1, "defaultID": HOST, "hosts": [record]}))
    path.chmod(0o600)


def median(command: list, env: dict) -> float:
    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    once()
    return statistics.median(once() for _ in range(RUNS))


def history(work: Path, row, tool: Path) -> None:
    env = environment(work)
    fill(work)
    file = work / "state/pairtool/history.db"
    database = sqlite3.connect(file)
    index = database.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'messageText%'").fetchone()[0]
    size = database.execute("SELECT sum(length(CAST(text AS BLOB))) FROM message").fetchone()[0]
    database.close()

    venv.create(work / "venv", with_pip=True)
    python, llm = work / "venv/bin/python3", work / "venv/bin/llm"
    subprocess.run([python, "-m", "pip", "install", "-q", "llm"], check=True)
    (work / "llm").mkdir()
    subprocess.run([python, "-c", LLM, work / "llm/logs.db", work / "texts"], check=True)

    for name, words, quoted in (("word", WORD, WORD), ("phrase", PHRASE, f'"{PHRASE}"')):
        ours = median([tool, "search", quoted, "--limit", "20", "--json"], env)
        match = f"SELECT text FROM messageText WHERE messageText MATCH '\"{words}\"' ORDER BY rank LIMIT 20"
        plain = median(["sqlite3", "-readonly", file, match], env)
        other = median([llm, "logs", "-q", quoted, "-n", "20", "--json"], env)
        row(f"search 1,000,000 messages, a {name}", f"{ours * 1000:.1f} ms", f"llm logs -q {other * 1000:.1f} ms",
            ours / other, "≤ 0.10", ours <= other / 10)
        row("…", f"{ours * 1000:.1f} ms", f"sqlite3 {plain * 1000:.1f} ms", ours / plain, "reported")
    row("its index", f"{index / 1e6:.0f} MB", f"the texts {size / 1e6:.0f} MB", index / size, "≤ 0.60",
        index <= 0.6 * size)
    # The whole command: start, hosts, projects, chats, output.
    listing = "SELECT id, title, project FROM chat ORDER BY position"
    for name, ours, theirs in (("JSON", ["--json"], "-json"), ("text", [], "-column")):
        chats = median([tool, "chats", "--offline", *ours], env)
        plain = median(["sqlite3", "-readonly", theirs, file, listing], env)
        row(f"10,000 chats without the host, {name}", f"{chats * 1000:.1f} ms", f"sqlite3 {theirs} {plain * 1000:.1f} ms",
            chats / plain, "≤ 6.00", chats <= 6 * plain)
