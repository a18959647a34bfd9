#!/usr/bin/env python3
"""Measures .build/release/pairtool against public tools; see scripts/bench.

Times are medians over interleaved runs of whole processes, so that both sides see the same machine; CPU times are means
over runs in a row.
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import bench_agent
import bench_answer
import bench_companion
import bench_corpus
import bench_editor
import bench_frames
import bench_history
import bench_public
import bench_reach
import bench_size
import bench_slow
import bench_watch

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / ".build/release/pairtool"
NAMESPACE = ROOT / "Tests/Support/netns-daemon.sh"
# What pairtool browses; the host of the measurement is one of the first.
TYPES = ["_copilotforge-companion._tcp", "_cf-companion._tcp", "_lumiagent._tcp", "_aiclicode._tcp", "_claudecode._tcp"]
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


def start(work: Path) -> None:
    environment = bench_history.environment(work)
    bench_history.pair(work)

    def cpu(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # The cost of starting any process from here is in both. One look at a clock is coarse: means of many, in turn.
    theirs = ["zbarimg", "-q", str(ROOT / "samples/good.png")]
    for words in (["--version"], ["hosts"], ["chats", "--help"]):
        pairs = [(cpu([str(TOOL), *words]), cpu(theirs)) for _ in range(50)]
        ours, other = (statistics.mean(column) for column in zip(*pairs))
        row(f"pairtool {' '.join(words)}, CPU time", ms(ours), f"zbarimg of a clean PNG {ms(other)}", ours / other, "≤ 0.70",
            ours <= 0.7 * other)


def scan(work: Path) -> None:
    clean = ROOT / "samples/good.png"
    ours, theirs = compare([str(TOOL), "scan", str(clean)], ["zbarimg", "-q", str(clean)])
    row("scan a clean PNG", ms(ours), f"zbarimg {ms(theirs)}", ours / theirs, "≤ 1.20", ours <= 1.2 * theirs)

    big = work / "12mp.jpg"
    # A 12-megapixel picture with the code in a quarter of its width, blurred and noisy, as a telephone takes it.
    subprocess.run(
        ["convert", "-size", "4032x3024", "xc:gray75", "(", str(clean), "-resize", "1000x1000", ")", "-gravity", "center",
         "-composite", "-blur", "0x1.5", "-seed", "7", "-attenuate", "0.3", "+noise", "Gaussian", "-quality", "85", str(big)],
        check=True,
    )
    ours, theirs = compare([str(TOOL), "scan", str(big)], ["zbarimg", "-q", str(big)], runs=5)
    row("scan a 12-megapixel JPEG", ms(ours), f"zbarimg {ms(theirs)}", ours / theirs, "≤ 0.10",
        ours <= theirs / 10)


def draw(work: Path) -> None:
    payload = ROOT / "samples/payload-good.json"
    tool = [str(TOOL), "qr", str(payload), "-o", str(work / "ours.png"), "--scale", "3"]
    qrencode = ["qrencode", "-l", "M", "-r", str(payload), "-o", str(work / "theirs.png")]
    ours, theirs = compare(tool, qrencode, runs=50)
    row("draw a QR PNG", ms(ours), f"qrencode {ms(theirs)}", ours / theirs, "reported")
    # pairtool reads what it has drawn before anyone sees it.
    zbarimg = ["zbarimg", "-q", str(work / "theirs.png")]
    runs = [(timed(tool), timed(qrencode) + timed(zbarimg)) for _ in range(25)]
    ours, both = (statistics.median(column) for column in zip(*runs))
    row("… and read it back", ms(ours), f"qrencode, then zbarimg {ms(both)}", ours / both, "reported")


DISCOVER = r"""
import json, os, statistics, subprocess, sys, time
tool, *kinds = sys.argv[1:]
kind = kinds[0]
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
def whole_of_each():
    start = time.perf_counter()
    each = [subprocess.Popen(["avahi-browse", "-rt", kind], stdout=subprocess.DEVNULL) for kind in kinds]
    if any(process.wait() for process in each):
        sys.exit("avahi-browse failed")
    return time.perf_counter() - start

complete = lambda: (whole(ours), whole_of_each(), whole(["avahi-browse", "-rt", kind]))
for _ in range(100):
    if b"Bench" in subprocess.run(["avahi-browse", "-rpt", kind], capture_output=True).stdout: break
else:
    sys.exit("the advert did not appear")
result = {}
for name, measure in (("first", first), ("whole", complete)):
    measure()
    pairs = [measure() for _ in range(25)]
    result[name] = [statistics.median(column) for column in zip(*pairs)]
advert.terminate()
print(json.dumps(result))
"""


def discover() -> None:
    if os.geteuid() != 0:
        row("discover, warm daemon", "left out", "", None, "needs root")
        return
    answer = subprocess.run(
        [str(NAMESPACE), sys.executable, "-c", DISCOVER, str(TOOL), *TYPES], capture_output=True, text=True
    )
    if answer.returncode != 0:
        sys.exit(f"the namespace for discover failed: {answer.stderr}")
    result = json.loads(answer.stdout.splitlines()[-1])
    ours, theirs = result["first"]
    row("first resolved host, warm daemon", ms(ours), f"avahi-browse -rp {ms(theirs)}", ours / theirs, "≤ 2.00",
        ours <= 2 * theirs)
    ours, each, one = result["whole"]
    row("whole discover (4 types), warm daemon", ms(ours), f"avahi-browse -rt, 4 at once {ms(each)}", ours / each,
        "reported")
    row("…", ms(ours), f"avahi-browse -rt of 1 type {ms(one)}", ours / one, "reported")


def main() -> int:
    parts = {"start": start, "scan": scan, "corpus": partial(bench_corpus.corpus, row=row), "draw": draw,
             "frames": partial(bench_frames.frames, row=row, tool=TOOL),
             "discover": lambda _: discover(), "watch": partial(bench_watch.watch, row=row, tool=TOOL),
             "size": partial(bench_size.size, row=row, tool=TOOL),
             **{name: partial(getattr(bench_companion, name), row=row)
                for name in ("host", "projects", "pairing", "commands", "streams", "ends")},
             "answer": partial(bench_answer.answer, row=row), "agent": partial(bench_agent.agent, row=row),
             "editor": partial(bench_editor.editor, row=row),
             "reach": partial(bench_reach.reach, row=row),
             "history": partial(bench_history.history, row=row, tool=TOOL), "slow": partial(bench_slow.slow, row=row)}
    checks = sys.argv[1:2] == ["--check"]
    wanted = sys.argv[2 if checks else 1:]
    if wanted[:1] == ["qr-public"]:
        if len(wanted) != 2 or not Path(wanted[1]).is_dir():
            print("qr-public needs the folder of the pictures: scripts/bench qr-public DIR", file=sys.stderr)
            return 2
        folder, wanted = Path(wanted[1]).absolute(), ["qr-public"]
        parts["qr-public"] = lambda _: bench_public.public(folder, row)
    wanted = wanted or list(parts)
    if unknown := [name for name in wanted if name not in parts]:
        print(f"There is no part {unknown[0]}; there are: {', '.join(parts)}.", file=sys.stderr)
        return 2
    if checks:
        return 0
    try:
        for name in wanted:
            print(f"measuring: {name} …", file=sys.stderr)
            work = Path(tempfile.mkdtemp(prefix="pairtool-bench."))
            try:
                parts[name](work)
            finally:
                shutil.rmtree(work)
    finally:
        # What was measured counts, whatever failed after it.
        if rows:
            show()
    return 0


def show() -> None:
    table = [("what", "pairtool", "beside", "ratio", "goal"), *rows]
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    print()
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
