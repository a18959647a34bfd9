"""How soon `pairtool discover --watch` shows what happens on a LAN, and what it takes to watch for long; see scripts/bench."""
import json
import os
import statistics
import subprocess
import sys
from datetime import datetime
from pathlib import Path

LAN = Path(__file__).resolve().parent.parent / "Tests/Support/lan.sh"

# A line with the time before every announcement and goodbye; the watch's own lines have theirs.
APPEAR = """
add_host source
add_host embedded
add_host daemon --daemon
responder source
for machine in embedded daemon; do
    start $machine "$PAIRTOOL" discover --watch --json --engine $machine >$LAN/$machine 2>/dev/null
    wait_for_line '"settled"' $LAN/$machine
done
now() { date -u +%FT%T.%3NZ; }
for number in $(seq 20); do
    echo "{\\"name\\":\\"Host $number\\",\\"did\\":\\"added\\",\\"at\\":\\"$(now)\\"}"
    tell source add _lumiagent._tcp 7001 "Host $number" host=host$number
    for machine in embedded daemon; do wait_for_line "\\"Host $number\\"" $LAN/$machine; done
done
for number in $(seq 20); do
    echo "{\\"name\\":\\"Host $number\\",\\"did\\":\\"removed\\",\\"at\\":\\"$(now)\\"}"
    tell source goodbye "Host $number"
    for machine in embedded daemon; do wait_for_line "\\"removed\\".*\\"Host $number\\"" $LAN/$machine; done
done
for machine in embedded daemon; do sed "s/^{/{\\"machine\\":\\"$machine\\",/" $LAN/$machine; done
"""

# What the process has after a thousand events and after ten thousand.
SOAK = """
add_host source
add_host watcher
responder source
start watcher "$PAIRTOOL" discover --watch --json --engine embedded >$LAN/out 2>/dev/null
watch=$!
wait_for_line '"settled"' $LAN/out
events() { grep -c "\\"event\\":\\"$1\\"" $LAN/out; }
seen() { [ "$(events $1)" -ge $total ]; }
wave=0
total=0
waves() {
    local last=$((wave + $1))
    while [ $wave -lt $last ]; do
        tell source wave _lumiagent._tcp $((wave += 1)) 50
        total=$((total + 50))
        wait_until seen added
    done
    for end in 1 2; do tell source wave _lumiagent._tcp $((wave += 1)) 0; done
    wait_until seen removed
    grep VmRSS /proc/$watch/status
}
waves 10
waves 90
"""


def lan(script: str, tool: Path, **environment: str) -> list[str]:
    """The lines that a script prints on the LAN of the tests, which has the environment as variables."""
    answer = subprocess.run([str(LAN), "-"], input=script, capture_output=True, text=True,
                            env={**os.environ, "PAIRTOOL": str(tool), **environment})
    if answer.returncode != 0:
        sys.exit(f"the LAN failed: {answer.stderr}")
    return answer.stdout.splitlines()


def watch(_: Path, row, tool: Path) -> None:
    if os.geteuid() != 0:
        row("watch", "left out: needs root", "", None, "")
        return
    lines = [json.loads(line) for line in lan(APPEAR, tool)]
    at = {(line["name"], line["did"]): datetime.fromisoformat(line["at"]) for line in lines if "did" in line}
    for machine in ("embedded", "daemon"):
        for did, goal, limit in (("added", "≤ 1 s", 1.0), ("removed", "≤ 1.5 s (1 s is mDNS's own)", 1.5)):
            times = [
                (datetime.fromisoformat(line["at"]) - at[line["host"]["name"], did]).total_seconds()
                for line in lines if line.get("machine") == machine and line.get("event") == did
            ]
            worst = max(times)
            row(f"announced or withdrawn → {did} ({machine})", f"{statistics.median(times):.3f} s, worst {worst:.3f} s",
                f"{len(times)} hosts", None, goal, worst <= limit)
    first, last = (int(line.split()[1]) for line in lan(SOAK, tool))
    row("watch, 10,000 events: memory", f"{last / 1024:.1f} MiB", f"after 1,000: {first / 1024:.1f} MiB", last / first,
        "≤ 1.10", last <= 1.1 * first)
