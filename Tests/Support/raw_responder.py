#!/usr/bin/env python3
"""An mDNS responder that announces whatever it is told to, however many, wrong or hostile.

    raw_responder.py [--interface IF] [--ipv6] --many COUNT         COUNT hosts, each with one service
    raw_responder.py [--interface IF] [--ipv6] SPEC.json            the services of a list of objects, see `Service`

It answers PTR, SRV, TXT, A and AAAA questions as RFC 6762 asks: known answers are left out (7.1), also when they come in
several packets (7.2); a record that was multicast in the last second is not sent again (6); shared records wait 20 to 120 ms;
whoever asks from another port than 5353 is answered alone (6.7). Every host has packets of its own, as on a real network, and
they leave `--pace` apart; with --spare they also wait for a machine that does not read them as fast. Prints `ready` once it
listens and, with --announce, once it has announced everything. On SIGTERM it says goodbye for everything (10.1), unless told
--silent-end.
"""
import argparse
import heapq
import json
import random
import select
import signal
import socket
import struct
import sys
import time

A, PTR, TXT, AAAA, SRV, ANY = 1, 12, 16, 28, 33, 255
GROUP4, GROUP6, PORT = "224.0.0.251", "ff02::fb", 5353
SHORTEST, LONGEST = 0.020, 0.120
# A socket's buffer has 212,992 bytes, of which a packet takes about a thousand: with 16 more it is not yet half full.
MOST_UNREAD = 64 << 10


def unread(process):
    """The most bytes that a socket of mDNS holds on the machine of a process: what comes when it is full is lost."""
    most = 0
    for table in ("udp", "udp6"):
        with open(f"/proc/{process}/net/{table}", encoding="ascii") as lines:
            for fields in (line.split() for line in lines):
                if fields[1].endswith(f":{PORT:04X}"):
                    most = max(most, int(fields[4].split(":")[1], 16))
    return most


def labels(text):
    """The labels of a name without escapes, such as `_x._tcp.local`."""
    return [part.encode() for part in text.split(".") if part]


def encode(name):
    return b"".join(bytes([len(label)]) + label for label in name) + b"\0"


def fold(name):
    """A name as it is compared: ASCII letters without case (RFC 1035, section 2.3.3)."""
    return tuple(bytes(label).lower() for label in name)


def decode(packet, at):
    """A name with compression, and where it ends."""
    name, end, hops = [], None, 0
    while True:
        length = packet[at]
        if length & 0xC0 == 0xC0:
            end = end or at + 2
            at = (length & 0x3F) << 8 | packet[at + 1]
            hops += 1
            if hops > 64:
                raise ValueError("a loop of pointers")
            continue
        at += 1
        if length == 0:
            return name, end or at
        name.append(packet[at:at + length])
        at += length


class Record:
    """A resource record; equal to another when name, type and data are the same."""

    def __init__(self, owner, kind, data, unique, ttl):
        self.kind, self.data, self.unique, self.ttl = kind, data, unique, ttl
        self.owner, self.key = owner, (fold(owner), kind)
        self.sent = 0.0

    def bytes(self, ttl=None, legacy=False):
        ttl = self.ttl if ttl is None else ttl
        # Whoever asks from another port gets no cache-flush bit and a short life (RFC 6762, section 6.7).
        kind = 0x8001 if self.unique and not legacy else 1
        head = struct.pack("!HHIH", self.kind, kind, min(ttl, 10) if legacy else ttl, len(self.data))
        return encode(self.owner) + head + self.data


class Service:
    """One advertised service, from an object with these keys; all but `type` have defaults.

    instance    the instance name; `instanceHex` for any bytes
    type        such as `_cf-companion._tcp`
    target      the SRV record's target, such as `studio.local`, or a bare label, or "" (the root); null: no SRV record
    port        default 7878
    txt         a list of strings; those of `txtHex` follow, in hex
    address     a list of A or AAAA records of the target; default: none
    ttl         seconds, default 120
    """

    def __init__(self, spec, ttl=120):
        ttl = spec.get("ttl", ttl)
        kind = labels(spec["type"]) + [b"local"]
        name = bytes.fromhex(spec["instanceHex"]) if "instanceHex" in spec else spec.get("instance", "Raw").encode()
        instance = [name] + kind
        strings = [text.encode() for text in spec.get("txt", [])] + [bytes.fromhex(t) for t in spec.get("txtHex", [])]
        self.pointer = Record(kind, PTR, encode(instance), False, ttl)
        self.records = [self.pointer]
        if spec.get("target", "raw.local") is not None:
            target = labels(spec.get("target", "raw.local"))
            data = struct.pack("!HHH", 0, 0, spec.get("port", 7878)) + encode(target)
            self.records.append(Record(instance, SRV, data, True, ttl))
            for address in spec.get("address", []):
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                self.records.append(
                    Record(target, AAAA if ":" in address else A, socket.inet_pton(family, address), True, ttl)
                )
        text = b"".join(bytes([len(string)]) + string for string in strings) or b"\0"
        self.records.insert(-1 if len(self.records) > 2 else len(self.records), Record(instance, TXT, text, True, ttl))


def many(count, kind):
    """Hosts from 10.77.100.0 up, with an id, a name and a port each."""
    for number in range(count):
        yield {
            "instance": f"Host {number:04}",
            "type": kind,
            "target": f"host-{number:04}.local",
            "port": 10000 + number,
            "txt": [f"id={number:016x}", f"name=Studio {number:04}", "v=2", "tls=7879"],
            "address": [f"10.77.{100 + number // 250}.{1 + number % 250}"],
        }


class Responder:
    def __init__(self, services, options):
        self.options = options
        self.services = services
        self.by_key = {}
        for service in services:
            for record in service.records:
                self.by_key.setdefault(record.key, []).append((record, service))
        self.queue, self.serial, self.held = [], 0, {}
        self.busy_until = 0.0
        self.unseen, self.ahead = 0, False
        self.socket = self.open()

    def open(self):
        name = self.options.interface
        index = socket.if_nametoindex(name)
        if self.options.ipv6:
            sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            self.group = (GROUP6, PORT, 0, index)
        else:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.group = (GROUP4, PORT)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        if self.options.ipv6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            sock.bind(("::", PORT))
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                            socket.inet_pton(socket.AF_INET6, GROUP6) + struct.pack("@I", index))
        else:
            membership = socket.inet_aton(GROUP4) + socket.inet_aton("0.0.0.0") + struct.pack("@i", index)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, membership)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
            sock.bind(("", PORT))
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        return sock

    def later(self, delay, action, *arguments):
        self.serial += 1
        heapq.heappush(self.queue, (time.monotonic() + delay, self.serial, action, arguments))

    def send(self, answers, additional=(), to=None, question=b"", identifier=0, ttl=None):
        legacy = to is not None
        body = b"".join(record.bytes(ttl, legacy) for record in (*answers, *additional))
        head = struct.pack("!6H", identifier, 0x8400, 1 if question else 0, len(answers), 0, len(additional))
        try:
            self.socket.sendto(head + question + body, to or self.group)
        except OSError as error:
            print(f"responder: {error}", file=sys.stderr)

    def multicast(self, service, records):
        """Sends records of one host, those left out that were sent in the last second."""
        now = time.monotonic()
        records = [record for record in records if now - record.sent > 1]
        if not records:
            return
        extra = [] if self.options.bare_answers else service.records
        extra = [record for record in extra if record not in records and now - record.sent > 1]
        for record in (*records, *extra):
            record.sent = now
        self.send(records, extra)

    def paced(self, delay, action, *arguments):
        """Runs after a delay, but not before what was planned earlier is out."""
        due = max(time.monotonic() + delay, self.busy_until)
        self.busy_until = due + self.options.pace
        self.later(due - time.monotonic(), action, *arguments)

    def answer(self, questions, known, sender, identifier):
        wanted = {}
        for name, kind, raw in questions:
            kinds = [kind] if kind != ANY else [PTR, SRV, TXT, A, AAAA]
            for record, service in (pair for k in kinds for pair in self.by_key.get((fold(name), k), [])):
                if (record.key, record.data) not in known:
                    wanted.setdefault(id(service), (service, []))[1].append((record, raw))
        for service, pairs in wanted.values():
            records = [record for record, _ in pairs]
            if sender[1] != PORT:
                self.paced(0, self.send, records, [r for r in service.records if r not in records], sender,
                           pairs[0][1], identifier)
            else:
                shared = any(not record.unique for record in records)
                first = random.uniform(SHORTEST, LONGEST) if shared and len(wanted) == 1 else SHORTEST if shared else 0
                self.paced(first, self.multicast, service, records)

    def received(self, packet, sender):
        identifier, flags, *counts = struct.unpack("!6H", packet[:12])
        if flags & 0x8000:
            return
        at, questions, known = 12, [], set()
        for _ in range(counts[0]):
            begin = at
            name, at = decode(packet, at)
            kind = struct.unpack("!H", packet[at:at + 2])[0]
            at += 4
            questions.append((name, kind, encode(name) + packet[at - 4:at] if begin else b""))
        for _ in range(counts[1]):
            name, at = decode(packet, at)
            kind, _, ttl, length = struct.unpack("!HHIH", packet[at:at + 10])
            data = packet[at + 10:at + 10 + length]
            if kind == PTR:
                data = encode(decode(packet, at + 10)[0])
            elif kind == SRV:
                data = data[:6] + encode(decode(packet, at + 16)[0])
            at += 10 + length
            # Half of its life has to be left (RFC 6762, section 7.1).
            if ttl >= 60:
                known.add(((fold(name), kind), bytes(data)))
        held = self.held.pop(sender, None)
        if held:
            questions, known = held[0] + questions, held[1] | known
        if flags & 0x0200:
            self.held[sender] = (questions, known)
            self.later(0.45, self.release, sender, self.held[sender], identifier)
        else:
            self.answer(questions, known, sender, identifier)

    def release(self, sender, held, identifier):
        if self.held.get(sender) is held:
            del self.held[sender]
            self.answer(*held, sender, identifier)

    def is_ahead(self):
        """Whether the machine of --spare has much to read before it is sent more. Looked up for every 16th packet."""
        if self.options.spare is None:
            return False
        self.unseen += 1
        if self.ahead or self.unseen == 16:
            self.unseen = 0
            self.ahead = unread(self.options.spare) > MOST_UNREAD
        return self.ahead

    def run(self):
        stopping = []
        signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
        if self.options.announce:
            for service in self.services:
                self.paced(0, self.multicast, service, service.records)
            self.paced(0, print, "ready")
        else:
            print("ready", flush=True)
        while not stopping:
            wait = self.queue[0][0] - time.monotonic() if self.queue else 0.2
            if select.select([self.socket], [], [], min(max(wait, 0.002 if self.ahead else 0), 0.2))[0]:
                packet, sender = self.socket.recvfrom(65535)
                try:
                    self.received(packet, sender)
                except (ValueError, IndexError, struct.error):
                    pass
            while self.queue and self.queue[0][0] <= time.monotonic() and not self.is_ahead():
                _, _, action, arguments = heapq.heappop(self.queue)
                action(*arguments)
            sys.stdout.flush()
        if not self.options.silent_end:
            for service in self.services:
                self.send(service.records, ttl=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec", nargs="?")
    parser.add_argument("--many", type=int, metavar="COUNT")
    parser.add_argument("--type", default="_copilotforge-companion._tcp")
    parser.add_argument("--interface", default="eth0")
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--announce", action="store_true")
    parser.add_argument("--bare-answers", action="store_true", help="answer without additional records")
    parser.add_argument("--silent-end", action="store_true")
    parser.add_argument("--spare", type=int, metavar="PID",
                        help="send nothing while the machine of this process has too much left to read")
    parser.add_argument("--pace", type=float, default=0.0003, help="seconds between packets, default 0.0003")
    options = parser.parse_args()
    if (options.spec is None) == (options.many is None):
        parser.error("give SPEC.json or --many COUNT")
    if options.many is not None:
        specs = many(options.many, options.type)
    else:
        with open(options.spec, encoding="utf-8") as file:
            specs = json.load(file)
    Responder([Service(spec) for spec in specs], options).run()


if __name__ == "__main__":
    main()
