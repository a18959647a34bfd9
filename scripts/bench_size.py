"""2,000 hosts on one network, once: pairtool beside avahi-browse and python-zeroconf. No goal. See scripts/bench."""
import json
import os
import subprocess
import venv
from pathlib import Path

from bench_watch import lan

TYPE = "_copilotforge-companion._tcp"

# Runs on the LAN of the tests; prints one JSON object a tool: its name, seconds, kilobytes, resolved hosts.
SCRIPT = r"""
add_host crowd --ipv4-only
add_host desk --ipv4-only --daemon
stop_daemon desk
on desk sed -i 's/^ratelimit-burst/cache-entries-max=20000\n&/' /run/avahi.conf
on desk mount --bind /run/avahi.conf /etc/avahi/avahi-daemon.conf
start_daemon desk
start crowd "$PYTHON" "$SUPPORT/raw_responder.py" --many 2000 --announce --pace 0.0015 >$LAN/crowd.out
wait_for_line ready $LAN/crowd.out 60
on desk "$BENCH_PYTHON" -c "$BENCH_MEASURE"
"""

MEASURE = r"""
import json, os, subprocess, time
tool, kind = os.environ["PAIRTOOL"], os.environ["BENCH_TYPE"]
zeroconf = '''
import sys, time
from zeroconf import ServiceBrowser, Zeroconf
class Listener:
    seen = {}
    last = time.monotonic()
    def add_service(self, zc, type_, name):
        self.seen[name] = None
        self.last = time.monotonic()
    update_service = add_service
    def remove_service(self, zc, type_, name): pass
zc = Zeroconf(interfaces=["10.77.0.2"])
listener = Listener()
ServiceBrowser(zc, sys.argv[1] + ".local.", listener)
# It has no word for "that is all": two seconds of quiet, at most 20.
end = time.monotonic() + 20
while time.monotonic() < end and time.monotonic() - listener.last < 2: time.sleep(0.05)
from zeroconf import ServiceInfo
for name in listener.seen:
    info = ServiceInfo(sys.argv[1] + ".local.", name)
    if info.load_from_cache(zc) or info.request(zc, 1000): print(name)
zc.close()
'''
def measure(name, command, count):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    print(json.dumps({"tool": name, "seconds": time.perf_counter() - start, "kilobytes": usage.ru_maxrss, "hosts": count(output)}), flush=True)
lines = lambda output: output.count(b"\n")
measure("avahi-browse", ["avahi-browse", "-rptk", kind], lambda output: sum(l.startswith(b"=") for l in output.splitlines()))
for engine in ("daemon", "embedded"):
    measure(engine, [tool, "discover", "--type", kind, "--engine", engine, "--interface", "eth0", "--json", "--timeout", "60s"], lines)
measure("zeroconf", [os.environ["BENCH_PYTHON"], "-c", zeroconf, kind], lines)
"""


def size(work: Path, row, tool: Path) -> None:
    if os.geteuid() != 0:
        row("2,000 hosts", "left out", "", None, "needs root")
        return
    venv.create(work / "venv", with_pip=True)
    python = work / "venv/bin/python3"
    subprocess.run([python, "-m", "pip", "install", "-q", "zeroconf"], check=True)
    lines = lan(SCRIPT, tool, BENCH_PYTHON=str(python), BENCH_MEASURE=MEASURE, BENCH_TYPE=TYPE)
    runs = {run["tool"]: run for run in map(json.loads, (line for line in lines if line.startswith("{")))}

    def text(run: dict) -> str:
        return f"{run['seconds']:.2f} s, {run['kilobytes'] / 1024:.0f} MB, {run['hosts']} hosts"

    for engine, tool, name in ("daemon", "avahi-browse", "avahi-browse -rt"), ("embedded", "zeroconf", "python-zeroconf"):
        ours, theirs = runs[engine], runs[tool]
        row(f"2,000 hosts, {engine} engine", text(ours), f"{name} {text(theirs)}", ours["seconds"] / theirs["seconds"],
            "reported")
