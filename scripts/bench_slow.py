"""How long a companion waits at a host that others keep busy with slow connections; see scripts/bench.

The slow ones are a process of its own, so that they do not slow down who measures:

    bench_slow.py hold PORT COUNT SECONDS

Each opens a TLS connection from 127.0.0.1, says that it will send a body, and sends a byte of it a second. Those that the
host ends are opened again a second later. It prints a line when all have been opened once.
"""
import asyncio
import http.client
import json
import resource
import select
import ssl
import subprocess
import sys
import time
from pathlib import Path

import bench_companion

CONNECTIONS = 2048
# How long the companion asks, and how long one answer is waited for.
SECONDS, PATIENCE = 15, 10
HEAD = (b"POST /companion/pairing/hello HTTP/1.1\r\nHost: 127.0.0.1\r\nX-CopilotForge-Companion-Version: 2\r\n"
        b"Content-Type: application/json\r\nContent-Length: 8000\r\n\r\n{")


def slow(work: Path, row) -> None:
    companion = bench_companion.Machine(work / "companion")
    with bench_companion.Host(work) as server:
        server.pair(companion)
        headers = bench_companion.Device(companion).headers
        peers = subprocess.Popen([sys.executable, __file__, "hold", str(server.tls_port), str(CONNECTIONS), "120"],
                                 stdout=subprocess.PIPE, text=True)
        try:
            # While they come, too: that is when the host has most to do.
            waits = {"127.0.0.2": [], "127.0.0.1": []}
            failed = dict.fromkeys(waits, 0)
            end = None
            while end is None or time.perf_counter() < end:
                for address, taken in waits.items():
                    seconds, is_answered = asked(server.tls_port, address, headers)
                    taken.append(seconds)
                    failed[address] += not is_answered
                if end is None and has_line(peers):
                    end = time.perf_counter() + SECONDS
        finally:
            peers.kill()
            peers.wait()
        for address, who in (("127.0.0.2", "a companion elsewhere"), ("127.0.0.1", "… at their address")):
            worst = max(waits[address])
            asked_again = f", {failed[address]} asked again" if failed[address] else ""
            row(f"host under {CONNECTIONS:,} slow connections, {who}",
                f"longest wait {worst:.3f} s of {len(waits[address])}{asked_again}", "", None, "≤ 1 s", worst <= 1)


def asked(port: int, address: str, headers: dict[str, str]) -> tuple[float, bool]:
    """Seconds until a companion that connects anew has its projects, and whether that was at the first try."""
    start = time.perf_counter()
    tries = 0
    while time.perf_counter() - start < PATIENCE:
        tries += 1
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE, source_address=(address, 0),
                                                 context=bench_companion.trusting())
        try:
            connection.request("GET", "/companion/projects", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200 or not json.load(answer)["ok"]:
                sys.exit(f"the companion was refused: {answer.status}")
            return time.perf_counter() - start, tries == 1
        except OSError:
            continue
        finally:
            connection.close()
    return time.perf_counter() - start, False


def has_line(process: subprocess.Popen) -> bool:
    return bool(select.select([process.stdout], [], [], 0)[0])


async def hold(port: int, count: int, seconds: float) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    context: ssl.SSLContext = bench_companion.trusting()
    tried: set[int] = set()

    async def one(number: int) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
                tried.add(number)
                writer.write(HEAD)
                while not reader.at_eof():
                    try:
                        await asyncio.wait_for(reader.read(1), 1)
                    except asyncio.TimeoutError:
                        writer.write(b" ")
                writer.transport.abort()
            except OSError:
                tried.add(number)
            if len(tried) == count:
                print("open", flush=True)
                tried.add(-1)
            await asyncio.sleep(1)

    await asyncio.wait([asyncio.create_task(one(number)) for number in range(count)], timeout=seconds)


if __name__ == "__main__":
    asyncio.run(hold(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
