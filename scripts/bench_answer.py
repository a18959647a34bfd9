"""How soon a terminal shows what an agent writes; see scripts/bench."""
import fcntl
import itertools
import os
import pty
import random
import select
import statistics
import struct
import subprocess
import termios
import time
from pathlib import Path

import bench_companion
import bench_history

ROOT = Path(__file__).resolve().parent.parent
WORDS = 30
SIZE = 10_000_000


def answer(work: Path, row) -> None:
    companion = bench_companion.Machine(work / "companion")
    source = work / "answer"
    os.mkfifo(source)
    with bench_companion.Host(work, "--agent-command", f"/bin/cat {source}") as server:
        server.pair(companion)
        child, terminal = started([bench_companion.TOOL, "send", "--new", "hello"], companion.environment)
        taken = list(times(source, terminal))
        while shown(terminal):
            pass
        os.waitpid(child, 0)
    middle, most = statistics.median(taken), statistics.quantiles(taken, n=10)[-1]
    row(f"a word of the agent's on the terminal, {WORDS} times",
        f"{middle * 1000:.1f} ms, nine of ten in {most * 1000:.1f} ms", "", None, "≤ 5 ms", most <= 0.005)
    rendered(work / "rendered", row)


def started(command: list, environment: dict) -> tuple[int, int]:
    """Runs a program at a terminal of 80 columns: its process, and what is behind its terminal."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = environment | {"TERM": "xterm-256color"}
        os.execvpe(command[0], command, environment)
    return child, terminal


def repeated(pieces: list[str]) -> str:
    """The pieces again and again, up to the size."""
    taken, size = [], 0
    for piece in itertools.cycle(pieces):
        taken.append(piece)
        if (size := size + len(piece.encode())) >= SIZE:
            return "".join(taken)


def answers() -> dict[str, str]:
    """Answers of 10 MB: prose as in our documents, programs, and lines that are full of markup."""
    guides = [path.read_text(encoding="utf-8") + "\n\n" for path in sorted(ROOT.glob("docs/**/*.md"))]
    sources = [f"```swift\n{path.read_text(encoding='utf-8')}```\n\n" for path in sorted(ROOT.glob("Sources/Discovery/**/*.swift"))]
    line = "- **Bold {0}** and *slanted*, `code`, ~~gone~~, [a link](https://example.org/{0}) and <https://example.org>.\n"
    table = "\n| a | **b** | `c` |\n|---|:-:|--:|\n" + "| {0} | *x* | [y](https://example.org/{0}) |\n" * 5 + "\n"
    dense = ["".join(line.format(number) for number in range(20)) + table.format(number) for number in range(100)]
    return {"typical": repeated(guides), "code": repeated(sources), "dense": repeated(dense)}


def rendered(work: Path, row) -> None:
    """How fast an answer becomes rows: what `pairtool messages` takes beyond its own -q, which reads the answer too, and
    beyond cat, which writes the same rows to the same terminal."""
    work.mkdir()
    environment = bench_history.environment(work)
    bench_history.pair(work)
    bench_history.keep(work, ((name, name, ["show it", text]) for name, text in answers().items()))
    for name in answers():
        def run(*command) -> tuple[float, bytes]:
            begin = time.perf_counter()
            child, terminal = started(command, environment)
            text = list(iter(lambda: shown(terminal), b""))
            if os.waitpid(child, 0)[1] != 0:
                raise SystemExit(f"{command} failed")
            return time.perf_counter() - begin, b"".join(text)

        listing = [bench_companion.TOOL, "messages", name, "--offline", "--no-pager"]
        (work / "rows").write_bytes(run(*listing)[1].replace(b"\r\n", b"\n"))
        whole, read, written = (statistics.median(run(*command)[0] for _ in range(5))
                                for command in (listing, [*listing, "-q"], ["cat", work / "rows"]))
        # Writing may overlap with rendering; what is left is not taken for less than a tenth of the whole.
        speed = SIZE / 1e6 / max(whole - read - written, whole / 10)
        row(f"an answer of 10 MB becomes rows, {name}", f"{speed:.0f} MB/s", "", None, "reported")
        row("… whole command", f"{whole:.2f} s", f"cat of the rows {written:.2f} s", whole / written, "reported")


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
    """Reads what is shown meanwhile."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([terminal], [], [], left)[0]:
            shown(terminal)


def shown(terminal: int) -> bytes:
    """What is shown next; nothing at the end."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
