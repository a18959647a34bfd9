#!/usr/bin/env python3
"""Measures .build/release/pairtool against public tools; see scripts/bench.

Times are medians over interleaved runs of whole processes, so that both sides see the same machine.
"""
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / ".build/release/pairtool"
NAMESPACE = ROOT / "Tests/Support/netns-daemon.sh"
TYPE = "_copilotforge-companion._tcp"
rows: list[tuple[str, str, str, str, str]] = []


def row(what: str, ours: str, theirs: str, ratio: float | None, goal: str, holds: bool | None = None) -> None:
    verdict = "" if holds is None else (" ✓" if holds else " ✗")
    rows.append((what, ours, theirs, "" if ratio is None else f"{ratio:.2f}", goal + verdict))


def timed(command: list[str], **options) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **options)
    return time.perf_counter() - start


def compare(ours: list[str], theirs: list[str], runs: int = 25, **options) -> tuple[float, float]:
    """Median wall times in seconds of two commands, run in turn."""
    timed(ours, **options), timed(theirs, **options)
    pairs = [(timed(ours, **options), timed(theirs, **options)) for _ in range(runs)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def version() -> None:
    def cpu(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(50):
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 50

    # The cost of starting any process from here is in both.
    ours, nothing = cpu([str(TOOL), "--version"]), cpu(["/bin/true"])
    row("pairtool --version, CPU time", ms(ours), f"/bin/true {ms(nothing)}", None, "≤ 10 ms", ours <= 0.010)


def scan(work: Path) -> None:
    clean = ROOT / "samples/good.png"
    ours, theirs = compare([str(TOOL), "scan", str(clean)], ["zbarimg", "-q", str(clean)])
    row("scan a clean PNG", ms(ours), f"zbarimg {ms(theirs)}", ours / theirs, "≤ 0.50", ours <= theirs / 2)

    big = work / "12mp.jpg"
    # A 12-megapixel picture with the code in a quarter of its width, blurred and noisy, as a telephone takes it.
    subprocess.run(
        ["convert", "-size", "4032x3024", "xc:gray75", "(", str(clean), "-resize", "1000x1000", ")", "-gravity", "center",
         "-composite", "-blur", "0x1.5", "-seed", "7", "-attenuate", "0.3", "+noise", "Gaussian", "-quality", "85", str(big)],
        check=True,
    )
    ours, theirs = compare([str(TOOL), "scan", str(big)], ["zbarimg", "-q", str(big)], runs=5)
    row("scan a 12-megapixel JPEG", ms(ours), f"zbarimg {ms(theirs)}", ours / theirs, "reported")


def draw(work: Path) -> None:
    payload = ROOT / "samples/payload-good.json"
    ours, theirs = compare(
        [str(TOOL), "qr", str(payload), "-o", str(work / "ours.png"), "--scale", "3"],
        ["qrencode", "-l", "M", "-r", str(payload), "-o", str(work / "theirs.png")],
        runs=50,
    )
    row("draw a QR PNG", ms(ours), f"qrencode {ms(theirs)}", ours / theirs, "≤ 1.00", ours <= theirs)


DISCOVER = r"""
import json, os, statistics, subprocess, sys, time
tool, kind = sys.argv[1:]
advert = subprocess.Popen(["avahi-publish", "-s", "Bench", kind, "7878", "v=1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def until_first(command, found):
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            if found(line):
                taken = time.perf_counter() - start
                process.kill()
                return taken
    sys.exit("nothing was found by " + " ".join(command))

def whole(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start

ours = [tool, "discover", "--engine", "daemon"]
first = lambda: (
    until_first(ours + ["--first", "--type", kind, "--json"], lambda line: b'"Bench"' in line),
    until_first(["avahi-browse", "-rp", kind], lambda line: line.startswith(b"=")),
)
complete = lambda: (whole(ours), whole(["avahi-browse", "-rt", kind]))
for _ in range(100):
    if b"Bench" in subprocess.run(["avahi-browse", "-rpt", kind], capture_output=True).stdout: break
result = {}
for name, measure in (("first", first), ("whole", complete)):
    measure()
    pairs = [measure() for _ in range(25)]
    result[name] = [statistics.median(p[i] for p in pairs) for i in (0, 1)]
advert.terminate()
print(json.dumps(result))
"""


def discover() -> None:
    if os.geteuid() != 0:
        row("discover, warm daemon", "left out", "", None, "needs root")
        return
    answer = subprocess.run(
        [str(NAMESPACE), sys.executable, "-c", DISCOVER, str(TOOL), TYPE], capture_output=True, text=True
    )
    if answer.returncode != 0:
        sys.exit(f"the namespace for discover failed: {answer.stderr}")
    result = json.loads(answer.stdout.splitlines()[-1])
    ours, theirs = result["first"]
    row("first resolved host, warm daemon", ms(ours), f"avahi-browse -rp {ms(theirs)}", ours / theirs, "≤ 1.20",
        ours <= 1.2 * theirs)
    ours, theirs = result["whole"]
    row("whole discover (4 types), warm daemon", ms(ours), f"avahi-browse -rt (1 type) {ms(theirs)}", ours / theirs,
        "≤ 1.00", ours <= theirs)


def peak_memory(pid: int) -> float:
    """The most memory that a process had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def host(work: Path) -> None:
    def environment(who: str) -> dict[str, str]:
        home = work / who
        return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"),
                "SWIFT_BACKTRACE": "enable=no"}

    project = work / "project"
    project.mkdir()
    command = [str(TOOL), "host", "--name", "Bench", "--port", "0", "--project", str(project), "--engine", "embedded",
               "--json", "--show-secrets"]
    with subprocess.Popen(command, env=environment("host"), stdout=subprocess.PIPE, text=True) as server:
        try:
            events: dict[str, dict] = {}
            while not {"listening", "challenge"} <= events.keys():
                event = json.loads(server.stdout.readline())
                events[event["event"]] = event
            port, code = events["listening"]["port"], events["challenge"]["code"]
            client = environment("client")

            def companion(*arguments: str, **options) -> subprocess.CompletedProcess:
                return subprocess.run([str(TOOL), *arguments], env=client, text=True, check=True, capture_output=True,
                                      **options)

            companion("pair", "--url", f"127.0.0.1:{port}", "--code-stdin", "--allow-legacy", input=code)
            chat = companion("send", "--new", "-q", "help").stdout.split()[-1]
            fill(work / "host/.local/share/pairtool/host/host.sqlite", chat, 100_000)

            page = f"http://127.0.0.1:{port}/companion/chats/{chat}/messages?cursor=50000&limit=50"
            output = subprocess.run(["wrk", "-t1", "-c16", "-d5s", page], capture_output=True, text=True, check=True).stdout
            if "Non-2xx" in output:
                sys.exit(f"the host refused the benchmark's requests:\n{output}")
            rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
            row("host, 16 connections, pages of 50", f"{rate:,.0f} requests/s", f"peak {peak_memory(server.pid):.0f} MB",
                None, "reported")

            # wait4 tells the memory of this one child.
            start = time.perf_counter()
            reader = subprocess.Popen([str(TOOL), "messages", chat, "--all", "-q"], env=client, stdout=subprocess.PIPE)
            count = sum(chunk.count(b"\n") for chunk in iter(lambda: reader.stdout.read(1 << 16), b""))
            _, status, usage = os.wait4(reader.pid, 0)
            taken = time.perf_counter() - start
            reader.returncode = os.waitstatus_to_exitcode(status)
            if reader.returncode != 0 or count < 100_000:
                sys.exit(f"only {count} messages were listed")
            memory = usage.ru_maxrss / 1024
            row("list 100,000 messages", f"{memory:.0f} MB, {taken:.1f} s", "", None, "< 200 MB", memory < 200)
        finally:
            server.send_signal(signal.SIGTERM)
            server.stdout.read()


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


def main() -> int:
    parts = {"version": lambda _: version(), "scan": scan, "draw": draw, "discover": lambda _: discover(), "host": host}
    wanted = sys.argv[1:] or list(parts)
    if unknown := [name for name in wanted if name not in parts]:
        print(f"There is no part {unknown[0]}; there are: {', '.join(parts)}.", file=sys.stderr)
        return 2
    for name in wanted:
        print(f"measuring: {name} …", file=sys.stderr)
        work = Path(tempfile.mkdtemp(prefix="pairtool-bench."))
        try:
            parts[name](work)
        finally:
            shutil.rmtree(work)
    table = [("what", "pairtool", "beside", "ratio", "goal"), *rows]
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    print()
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
