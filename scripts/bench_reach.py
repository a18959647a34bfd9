"""A host by each rung, and one relay with thousands of hosts and devices; see scripts/bench."""
import asyncio
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import bench_companion

MAGIC = 0x9E79BC40
JOIN, JOIN_SESSION, RESPONSE, CONNECT, INVITATION, PING, PONG = 2, 3, 4, 5, 6, 0, 1
COMMANDS = 15
HOSTS = 2000
BULK = 100_000_000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def relay(work: Path):
    """A relay on loopback, announced to nobody: its address, and its process."""
    keys, port = work / "relay", free_port()
    keys.mkdir(exist_ok=True)
    process, address = start_relay(keys, port)
    try:
        yield address, process, lambda: start_relay(keys, port)
    finally:
        process.kill()
        process.wait()


def start_relay(keys: Path, port: int) -> tuple[subprocess.Popen, str]:
    log = keys / "log"
    with log.open("w") as output:
        process = subprocess.Popen(["strelaysrv", "-pools", "", "-status-srv", "", "-listen", f"127.0.0.1:{port}", "-keys", str(keys)],
                                   stdout=output, stderr=subprocess.STDOUT)
    while not (found := re.search(r"relay://\S+", log.read_text())):
        time.sleep(0.02)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, found[0]
        except OSError:
            time.sleep(0.02)


@contextmanager
def ssh_server(work: Path):
    """A server of ssh on loopback, and a directory with an `ssh` that may log in there: its port and that directory."""
    place, port = work / "ssh", free_port()
    place.mkdir()
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / key)], check=True)
    shutil.copy(place / "user_key.pub", place / "authorized_keys")
    (place / "known_hosts").write_text(f"[127.0.0.1]:{port} {(place / 'host_key.pub').read_text()}")
    (place / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host_key\nAuthorizedKeysFile {place}/authorized_keys\n"
        "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n")
    (place / "config").write_text(f"Host *\n IdentityFile {place}/user_key\n UserKnownHostsFile {place}/known_hosts\n")
    (place / "bin").mkdir()
    (place / "bin/ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {place}/config "$@"\n')
    (place / "bin/ssh").chmod(0o755)
    server = ["/usr/sbin/sshd", "-D", "-e", "-f", str(place / "sshd_config")]
    if os.geteuid() == 0:
        server = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs sshd /run && mkdir -m 755 /run/sshd && exec "$@"', "sh", *server]
    process = subprocess.Popen(server, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port, place / "bin"
    finally:
        process.terminate()
        process.wait()


def rungs(work: Path, row) -> None:
    with relay(work) as (address, _, _), ssh_server(work) as (port, programs):
        with bench_companion.Host(work, "--relay", address, "--qr-file", str(work / "qr.png")) as server:
            payload = json.loads(server.challenge["qrPayload"])
            route = f"{address.split('&')[0]}&host={syncthing_text(payload['rid'])}"
            urls = {"direct": f"https://127.0.0.1:{server.tls_port}", "ssh": f"ssh://127.0.0.1:{port}/{server.tls_port}", "relay": route}
            times: dict[str, float] = {}
            for rung, url in urls.items():
                companion = bench_companion.Machine(work / f"companion-{rung}")
                companion.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
                # It does not see what is advertised on this machine.
                companion.environment["PAIRTOOL_INTERFACE"] = "none0"
                if rung == "relay":
                    wait_for_relay(server)
                companion.run("pair", "--url", url, "--qr", str(work / "qr.png"), "--name", rung, "-q")
                server.next_challenge() if rung != "relay" else None
                companion.run("projects", "-q")
                taken = []
                for _ in range(COMMANDS):
                    begin = time.monotonic()
                    companion.run("projects", "-q")
                    taken.append(time.monotonic() - begin)
                    if rung == "relay":
                        # Thirty connections a minute are let in.
                        time.sleep(4.5)
                times[rung] = statistics.median(taken) * 1000
            row("a command over a new connection, directly", f"{times['direct']:.0f} ms", "", None, "reported")
            for rung in ("ssh", "relay"):
                row(f"… via {rung}", f"{times[rung]:.0f} ms", f"adds {times[rung] - times['direct']:.0f} ms", None, "reported")
        checked = json.loads(bench_companion.Machine(work / "checker").run("relay", "check", address, "--json"))
        plain = plain_tls()
        ratio = checked["bytesPerSecond"] / plain
        row("bytes through a relay, one connection", f"{checked['bytesPerSecond'] / 1e6:.0f} MB/s", f"plain TLS {plain / 1e6:.0f} MB/s",
            ratio, "≥ 0.5 ×", ratio >= 0.5)
        row("a connection through a relay stands after", f"{checked['openingMilliseconds']:.0f} ms",
            f"round trip {checked['latencyMilliseconds']:.2f} ms", None, "reported")


def wait_for_relay(server: bench_companion.Host) -> None:
    while "joined" not in server.machine.run("host", "status", "--json"):
        time.sleep(0.05)


def syncthing_text(base64url: str) -> str:
    """An id as Syncthing writes it: base32 with a check character after every 13, in groups of seven."""
    import base64

    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    text = base64.b32encode(base64.urlsafe_b64decode(base64url + "==")).decode().rstrip("=")
    checked = ""
    for start in range(0, 52, 13):
        part, factor, total = text[start:start + 13], 1, 0
        for letter in part:
            product = factor * letters.index(letter)
            factor = 3 - factor
            total += product // 32 + product % 32
        checked += part + letters[-total % 32]
    return "-".join(checked[start:start + 7] for start in range(0, 56, 7))


def certificate(directory: Path, number: int) -> tuple[Path, bytes]:
    """A self-signed certificate with its key in one file, and the id that a relay sees."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "endpoint")])
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(number + 1).not_valid_before(datetime(2000, 1, 1, tzinfo=timezone.utc))
            .not_valid_after(datetime(2100, 1, 1, tzinfo=timezone.utc)).sign(key, hashes.SHA256()))
    path = directory / f"{number}.pem"
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
                     + made.public_bytes(serialization.Encoding.PEM))
    return path, hashlib.sha256(made.public_bytes(serialization.Encoding.DER)).digest()


def context(path: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(["bep-relay"])
    made.load_cert_chain(path)
    return made


def plain_tls() -> float:
    """Bytes a second of a TLS 1.3 connection of this machine with itself, by OpenSSL."""
    import tempfile
    import threading

    with tempfile.TemporaryDirectory() as directory:
        path, _ = certificate(Path(directory), 0)
        server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_side.load_cert_chain(path)
        client_side = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client_side.check_hostname, client_side.verify_mode = False, ssl.CERT_NONE
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def send() -> None:
                connection, _ = listener.accept()
                with server_side.wrap_socket(connection, server_side=True) as line:
                    part, left = bytes(1 << 16), BULK
                    while left > 0:
                        left -= line.send(part)
            sender = threading.Thread(target=send)
            sender.start()
            with client_side.wrap_socket(socket.create_connection(listener.getsockname())) as line:
                begin, got = time.monotonic(), 0
                while part := line.recv(1 << 16):
                    got += len(part)
                taken = time.monotonic() - begin
            sender.join()
            return got / taken


# A relay with many hosts and devices. They speak its real messages, and in the pipe a line each way, as a command does.

def message(kind: int, body: bytes = b"") -> bytes:
    return struct.pack(">III", MAGIC, kind, len(body)) + body


def opaque(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


async def read(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    magic, kind, size = struct.unpack(">III", await reader.readexactly(12))
    if magic != MAGIC:
        raise ConnectionError("no relay")
    return kind, await reader.readexactly(size)


def fields(body: bytes) -> tuple[bytes, bytes]:
    """Of an invitation: who calls, and the key."""
    size = struct.unpack_from(">I", body)[0]
    start = 4 + size + -size % 4
    length = struct.unpack_from(">I", body, start)[0]
    return body[4:4 + size], body[start + 4:start + 4 + length]


class Endpoint:
    def __init__(self, port: int, path: Path, id: bytes):
        self.port, self.id, self.context = port, id, context(path)
        self.joined = asyncio.Event()
        # asyncio itself keeps no task alive.
        self.calls: set[asyncio.Task] = set()

    async def protocol(self):
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context, ssl_handshake_timeout=60)

    async def pipe(self, key: bytes):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(message(JOIN_SESSION, opaque(key)))
        kind, body = await read(reader)
        if kind != RESPONSE or struct.unpack_from(">i", body)[0] != 0:
            writer.close()
            raise ConnectionError("the session is lost")
        return reader, writer


async def host(endpoint: Endpoint) -> None:
    """Stays joined: after a loss it comes back as hosts do, after a share of 1, 2, 4 … 30 s."""
    wait = 1.0
    while True:
        try:
            reader, writer = await endpoint.protocol()
            writer.write(message(JOIN))
            kind, body = await read(reader)
            if kind != RESPONSE or struct.unpack_from(">i", body)[0] != 0:
                raise ConnectionError("not joined")
            endpoint.joined.set()
            wait = 1.0
            while True:
                kind, body = await read(reader)
                if kind == PING:
                    writer.write(message(PONG))
                elif kind == INVITATION:
                    answered = asyncio.ensure_future(echo(endpoint, fields(body)[1]))
                    endpoint.calls.add(answered)
                    answered.add_done_callback(endpoint.calls.discard)
        except (OSError, EOFError, ssl.SSLError, asyncio.IncompleteReadError):
            endpoint.joined.clear()
            await asyncio.sleep(random.random() * wait)
            wait = min(wait * 2, 30)


async def echo(endpoint: Endpoint, key: bytes) -> None:
    try:
        reader, writer = await endpoint.pipe(key)
        while line := await reader.readline():
            writer.write(line)
        writer.close()
    except (OSError, EOFError, asyncio.IncompleteReadError):
        pass


async def call(endpoint: Endpoint, id: bytes):
    for _ in range(5):
        reader, writer = await endpoint.protocol()
        writer.write(message(CONNECT, opaque(id)))
        kind, body = await read(reader)
        writer.close()
        if kind != INVITATION:
            raise ConnectionError("no invitation")
        await asyncio.sleep(0.02)
        try:
            return await endpoint.pipe(fields(body)[1])
        except (OSError, asyncio.IncompleteReadError):
            continue
    raise ConnectionError("no session")


async def fleet(work: Path, port: int, process: subprocess.Popen, restart, row) -> subprocess.Popen:
    keys = work / "certificates"
    keys.mkdir()
    made = [certificate(keys, number) for number in range(2 * HOSTS)]
    hosts = [Endpoint(port, *item) for item in made[:HOSTS]]
    devices = [Endpoint(port, *item) for item in made[HOSTS:]]
    memory = lambda: int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024
    empty, begin = memory(), time.monotonic()
    tasks = [asyncio.ensure_future(host(one)) for one in hosts]
    await asyncio.gather(*(one.joined.wait() for one in hosts))
    row(f"{HOSTS:,} hosts join one relay", f"{HOSTS / (time.monotonic() - begin):.0f} a second", "", None, "reported")
    row("… memory of the relay for each", f"{(memory() - empty) * 1024 / HOSTS:.0f} KB", f"without hosts {empty:.0f} MB", None, "reported")

    limit, pipes, begin = asyncio.Semaphore(64), [], time.monotonic()

    async def open_pipe(device: Endpoint, other: Endpoint) -> None:
        async with limit:
            pipes.append(await call(device, other.id))

    await asyncio.gather(*(open_pipe(device, other) for device, other in zip(devices, hosts)))
    row(f"{HOSTS:,} devices open a connection each", f"{HOSTS / (time.monotonic() - begin):.0f} a second", "64 at a time", None, "reported")
    row("… memory of the relay then", f"{memory():.0f} MB", f"{(memory() - empty) * 1024 / HOSTS:.0f} KB for each pair", None, "reported")
    times: list[float] = []

    async def command(pipe) -> None:
        reader, writer = pipe
        await asyncio.sleep(random.random() * 10)
        begin = time.monotonic()
        writer.write(b"x" * 1000 + b"\n")
        await reader.readline()
        times.append((time.monotonic() - begin) * 1000)

    await asyncio.gather(*(command(pipe) for pipe in pipes))
    row(f"a line and its answer, {HOSTS // 10} a second over all of them", f"{statistics.median(times):.2f} ms",
        f"99 of 100: {statistics.quantiles(times, n=100)[-1]:.1f} ms", None, "reported")
    for _, writer in pipes:
        writer.close()

    process.kill()
    process.wait()
    while any(one.joined.is_set() for one in hosts):
        await asyncio.sleep(0.01)
    process, _ = restart()
    begin = time.monotonic()
    await asyncio.gather(*(one.joined.wait() for one in hosts))
    back = time.monotonic() - begin
    row("the relay restarts: all hosts are back after", f"{back:.0f} s", "", None, "≤ 60 s", back <= 60)
    for task in tasks + [call for one in hosts for call in one.calls]:
        task.cancel()
    return process


def scale(work: Path, row) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with relay(work) as (address, process, restart):
        port = int(re.search(r":(\d+)/", address)[1])
        started = asyncio.run(fleet(work, port, process, restart, row))
        started.kill()
        started.wait()


def reach(work: Path, row) -> None:
    if not shutil.which("strelaysrv") or not Path("/usr/sbin/sshd").exists():
        return row("reach", "left out", "needs syncthing-relaysrv and openssh-server", None, "reported")
    rungs(work, row)
    inner = work / "fleet"
    inner.mkdir()
    scale(inner, row)
