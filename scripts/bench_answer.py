"""How soon a terminal shows what an agent writes; see scripts/bench."""
import fcntl
import os
import pty
import random
import select
import statistics
import struct
import termios
import time
from pathlib import Path

import bench_companion

WORDS = 30


def answer(work: Path, row) -> None:
    companion = bench_companion.Machine(work / "companion")
    source = work / "answer"
    os.mkfifo(source)
    with bench_companion.Host(work, "--agent-command", f"/bin/cat {source}") as server:
        server.pair(companion)
        child, terminal = pty.fork()
        if child == 0:
            environment = companion.environment | {"TERM": "xterm-256color", "COLORFGBG": "15;0"}
            os.execve(bench_companion.TOOL, ["pairtool", "send", "--new", "hello"], environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        taken = list(times(source, terminal))
        while shown(terminal):
            pass
        os.waitpid(child, 0)
    middle, most = statistics.median(taken), statistics.quantiles(taken, n=10)[-1]
    row(f"a word of the agent's on the terminal, {WORDS} times",
        f"{middle * 1000:.1f} ms, nine of ten in {most * 1000:.1f} ms", "", None, "≤ 5 ms", most <= 0.005)


def times(source: Path, terminal: int):
    """Seconds from each word that the agent writes, after a pause, until it is shown."""
    with open(source, "wb", buffering=0) as agent:
        for number in range(WORDS):
            # The line below the answer moves ten times a second: not always at the same distance from that.
            wait(terminal, random.uniform(0.2, 0.4))
            word = f"word{number:02}"
            begin = time.perf_counter()
            agent.write(f"{word}\n\n".encode())
            text = b""
            while word.encode() not in text:
                if not (part := shown(terminal)):
                    raise SystemExit(f"the answer ended before {word}: {text.decode(errors='replace')}")
                text += part
            yield time.perf_counter() - begin


def wait(terminal: int, seconds: float) -> None:
    """Reads what is shown meanwhile, and answers what the terminal is asked."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([terminal], [], [], left)[0]:
            shown(terminal)


def shown(terminal: int) -> bytes:
    """What is shown next; nothing at the end."""
    try:
        text = os.read(terminal, 65536)
    except OSError:
        return b""
    if b"\x1b[c" in text:
        os.write(terminal, b"\x1b]11;rgb:0/0/0\x1b\\\x1b[?6c")
    return text
