"""A relay that is up to no good. It speaks the messages of a Syncthing relay (specs/relay-v1.rst), and then does one of these:

    none      nothing else
    inject    puts bytes of its own between those of a device
    drop      leaves some bytes of a device out
    repeat    sends some bytes of a device twice
    reorder   changes the order of bytes of a host
    cut       ends each session after a while
    invent    invites the host to sessions with strangers and with itself, in the name of each device that it knows
    lie       takes devices to itself, in the place of the host

usage: relay.py ADDRESS PORT KEY-AND-CERTIFICATE WHAT CERTIFICATE-FOLDER...

Python checks certificates or does not get them: those in the folders are the ones that it takes.
"""
import glob
import hashlib
import os
import random
import socket
import ssl
import struct
import sys
import threading
import time

MAGIC = 0x9E79BC40
ADDRESS, PORT, OWN, WHAT, FOLDERS = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]
hosts: dict[bytes, ssl.SSLSocket] = {}
devices: set[bytes] = set()
waiting: dict[bytes, tuple[bool, bytes]] = {}
partners: dict[bytes, socket.socket] = {}
lock = threading.Lock()


def message(kind: int, body: bytes = b"") -> bytes:
    return struct.pack(">III", MAGIC, kind, len(body)) + body


def opaque(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def response(code: int, text: bytes) -> bytes:
    return message(4, struct.pack(">i", code) + opaque(text))


def exactly(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = line.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read(line: socket.socket) -> tuple[int, bytes]:
    magic, kind, size = struct.unpack(">III", exactly(line, 12))
    if magic != MAGIC or size > 1024:
        raise EOFError
    return kind, exactly(line, size)


def invitation(peer: bytes, key: bytes, is_server: bool) -> bytes:
    return message(6, opaque(peer) + opaque(key) + opaque(b"") + struct.pack(">II", PORT, is_server))


def context() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(OWN)
    made.set_alpn_protocols(["bep-relay"])
    made.verify_mode = ssl.CERT_REQUIRED
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    for folder in FOLDERS:
        for path in glob.glob(folder + "/relay*.pem"):
            made.load_verify_locations(cafile=path)
    return made


def protocol(line: ssl.SSLSocket) -> None:
    own = hashlib.sha256(line.getpeercert(binary_form=True)).digest()
    while True:
        kind, body = read(line)
        if kind == 0:
            line.sendall(message(1))
        elif kind == 2:
            with lock:
                hosts[own] = line
            line.sendall(response(0, b"success"))
            if WHAT == "invent":
                threading.Thread(target=invent, args=(own, line), daemon=True).start()
        elif kind == 5:
            wanted, keys = body[4:36], (os.urandom(32), os.urandom(32))
            devices.add(own)
            with lock:
                host = hosts.get(wanted)
                for index, key in enumerate(keys):
                    waiting[key] = (index == 1, keys[1 - index])
            if host is None:
                line.sendall(response(1, b"not found"))
                return
            line.sendall(invitation(wanted, keys[0], False))
            if WHAT != "lie":
                host.sendall(invitation(own, keys[1], True))
            return


def invent(host: bytes, line: ssl.SSLSocket) -> None:
    """Strangers, and itself in the name of devices: it sends what it can think of."""
    for number in range(10_000):
        time.sleep(0.05)
        names = [os.urandom(32), host, *devices]
        key = os.urandom(32)
        with lock:
            waiting[key] = (True, b"relay")
        try:
            line.sendall(invitation(names[number % len(names)], key, bool(number % 2)))
        except OSError:
            return


def session(line: socket.socket) -> None:
    kind, body = read(line)
    key = body[4:36]
    with lock:
        known = waiting.pop(key, None)
    if kind != 3 or known is None:
        line.sendall(response(1, b"not found"))
        return line.close()
    is_host, other = known
    line.sendall(response(0, b"success"))
    if other == b"relay" or WHAT == "lie":
        return deceive(line)
    with lock:
        partner = partners.pop(other, None)
        if partner is None:
            partners[key] = line
            return
    pair = (partner, line) if is_host else (line, partner)
    threading.Thread(target=carry, args=(*pair, True), daemon=True).start()
    carry(pair[1], pair[0], False)


def deceive(line: socket.socket) -> None:
    """The relay itself is the other side: it knows no key and no session."""
    for attempt in (b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(400), b"\x16\x03\x01\x02\x00" + os.urandom(512)):
        try:
            line.sendall(attempt)
            line.settimeout(1)
            line.recv(4096)
        except OSError:
            pass
    line.close()


def carry(source: socket.socket, target: socket.socket, is_of_device: bool) -> None:
    passed = 0
    try:
        while part := source.recv(4096):
            passed += len(part)
            # The handshake is over, more or less.
            late = passed > (700 if is_of_device else 1500) and random.random() < 0.5
            if WHAT == "inject" and is_of_device and late:
                part = os.urandom(random.randint(1, 64)) + part
            elif WHAT == "drop" and is_of_device and late:
                part = part[1:]
            elif WHAT == "repeat" and is_of_device and late:
                part += part
            elif WHAT == "reorder" and not is_of_device and late:
                part = part[::-1]
            elif WHAT == "cut" and passed > 3000:
                break
            target.sendall(part)
    except OSError:
        pass
    for line in (source, target):
        try:
            line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(connection: socket.socket) -> None:
    try:
        if connection.recv(1, socket.MSG_PEEK) == b"\x16":
            protocol(context().wrap_socket(connection, server_side=True))
        else:
            session(connection)
    except (OSError, EOFError, struct.error):
        pass


with socket.create_server((ADDRESS, PORT), reuse_port=False) as listener:
    print("ready", flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
