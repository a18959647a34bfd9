#!/usr/bin/env python3
"""A raw mDNS responder for eth0 of a machine on the LAN (see lan.sh), steered by lines on standard input:

    add TYPE PORT NAME [ttl=SECONDS] [ptr=SECONDS] [host=LABEL] [address=A]... [KEY=VALUE]...
        Announces a service, or its new records. Words with blanks are quoted. Default: a TTL of 120 s, for the PTR record too,
        the machine's own name and its addresses on eth0.
    goodbye NAME     Withdraws a service, with a goodbye.
    mute, speak      Neither answers nor announces; does so again.
    wave TYPE NUMBER EACH
        EACH services appear, and those of the last wave but one leave.

It answers queries for what it has (RFC 6762, section 6), but for the PTR records that the asker knows (section 7.1).
"""
import ipaddress
import select
import shlex
import socket
import struct
import sys
import time

PTR, TXT, AAAA, SRV, A, ANY = 12, 16, 28, 33, 1, 255
GROUP4, GROUP6, PORT = "224.0.0.251", "ff02::fb", 5353


def labels(*parts):
    """A domain name of labels; the last part may hold dots."""
    words = [part.encode() for part in parts[:-1]] + [word.encode() for word in parts[-1].split(".")]
    return b"".join(bytes([len(word)]) + word for word in words) + b"\0"


def record(name, kind, ttl, data, unique=True):
    return name + struct.pack(">HHIH", kind, 0x8001 if unique else 1, ttl, len(data)) + data


def own_addresses():
    result = []
    for line in open("/proc/net/if_inet6", encoding="ascii"):
        words = line.split()
        if words[5] == "eth0" and words[0].startswith("fe80"):
            result.append(str(ipaddress.IPv6Address(bytes.fromhex(words[0]))))
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
        probe.connect((GROUP4, PORT))
        result.append(probe.getsockname()[0])
    except OSError:
        pass
    return [address for address in result if address != "0.0.0.0"]


class Service:
    def __init__(self, kind, port, name, words):
        self.type, self.port, self.name = kind, int(port), name
        self.ttl, self.ptr, self.host, self.addresses, self.txt = 120, None, socket.gethostname(), [], []
        for word in words:
            key, _, value = word.partition("=")
            if key == "ttl":
                self.ttl = int(value)
            elif key == "ptr":
                self.ptr = int(value)
            elif key == "host":
                self.host = value
            elif key == "address":
                self.addresses.append(value)
            else:
                self.txt.append(word)
        self.addresses = self.addresses or own_addresses()

    def records(self, goodbye=False):
        ttl = 0 if goodbye else self.ttl
        full, host = labels(self.name, self.type + ".local"), labels(self.host, "local")
        yield record(labels(self.type + ".local"), PTR, ttl if goodbye or self.ptr is None else self.ptr, full, unique=False)
        yield record(full, SRV, ttl, struct.pack(">HHH", 0, 0, self.port) + host)
        items = b"".join(bytes([len(item.encode())]) + item.encode() for item in self.txt) or b"\0"
        yield record(full, TXT, ttl, items)
        # Others may have the address records too: they leave by themselves.
        for address in [] if goodbye else self.addresses:
            packed = ipaddress.ip_address(address).packed
            yield record(host, A if len(packed) == 4 else AAAA, ttl, packed)

    def answers(self, name, kind):
        """The records that answer a question."""
        full, pointer = labels(self.name, self.type + ".local").lower(), labels(self.type + ".local").lower()
        wanted = [item for item in self.records() if item[: len(name)].lower() == name and kind in (ANY, kind_of(item, name))]
        # What a PTR record leads to is asked for next (RFC 6763, section 12.1).
        if wanted and name == pointer:
            return list(self.records())
        return list(self.records())[1:] if wanted and name == full else wanted


def kind_of(item, name):
    return struct.unpack_from(">H", item, len(name))[0]


def read_name(packet, at):
    """A name, in lower case and without compression, and where it ends (RFC 1035, section 4.1.4)."""
    name, end = b"", None
    while packet[at]:
        if packet[at] & 0xC0:
            end = at + 2 if end is None else end
            at = struct.unpack_from(">H", packet, at)[0] & 0x3FFF
        else:
            name += packet[at : at + 1 + packet[at]]
            at += 1 + packet[at]
    return (name + b"\0").lower(), at + 1 if end is None else end


def read_query(packet):
    """The questions as pairs of name and type, and the targets of the PTR records that the asker knows."""
    questions, known, at = [], set(), 12
    count, known_count = struct.unpack_from(">HH", packet, 4)
    for _ in range(count):
        name, at = read_name(packet, at)
        questions.append((name, struct.unpack_from(">H", packet, at)[0]))
        at += 4
    for _ in range(known_count):
        _, at = read_name(packet, at)
        kind, _, _, length = struct.unpack_from(">HHIH", packet, at)
        if kind == PTR:
            known.add(read_name(packet, at + 10)[0])
        at += 10 + length
    return questions, known


class Responder:
    def __init__(self):
        self.services, self.shown, self.is_muted, self.sockets = {}, [], False, []
        index = socket.if_nametoindex("eth0")
        for family in (socket.AF_INET, socket.AF_INET6):
            peer = socket.socket(family, socket.SOCK_DGRAM)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            try:
                if family == socket.AF_INET:
                    membership = struct.pack("4s4si", socket.inet_aton(GROUP4), b"\0\0\0\0", index)
                    peer.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
                    peer.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", b"\0" * 4, b"\0" * 4, index))
                    peer.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
                else:
                    peer.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    peer.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(family, GROUP6) + struct.pack("i", index))
                    peer.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                    peer.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
                peer.bind(("", PORT))
                self.sockets.append(peer)
            except OSError:
                # A machine without this protocol.
                peer.close()

    def send(self, records, sockets=None):
        """As many packets as it takes; what asks for more than fits into one gets several."""
        packets, current = [], []
        for item in records:
            if current and 12 + sum(map(len, current)) + len(item) > 1400:
                packets.append(current)
                current = []
            current.append(item)
        if current:
            packets.append(current)
        for packet in packets:
            if len(packets) > 8:
                # At the pace of a network, for receivers with small buffers.
                time.sleep(0.001)
            data = struct.pack(">HHHHHH", 0, 0x8400, 0, len(packet), 0, 0) + b"".join(packet)
            for peer in sockets or self.sockets:
                try:
                    peer.sendto(data, (GROUP4, PORT) if peer.family == socket.AF_INET else (GROUP6, PORT))
                except OSError:
                    # No link, or no address of this protocol now.
                    pass

    def add(self, service):
        self.services[service.name] = service
        if not self.is_muted:
            self.send(service.records())

    def goodbye(self, name):
        service = self.services.pop(name, None)
        if service and not self.is_muted:
            self.send(service.records(goodbye=True))

    def answer(self, peer):
        packet, _ = peer.recvfrom(9000)
        if self.is_muted or len(packet) < 12 or packet[2] & 0x80:
            return
        questions, known = read_query(packet)
        answers = []
        for name, kind in questions:
            for service in list(self.services.values()):
                if kind != PTR or labels(service.name, service.type + ".local").lower() not in known:
                    answers += service.answers(name, kind)
        # Each once: services share addresses.
        self.send(dict.fromkeys(answers), [peer])

    def wave(self, kind, number, each):
        new = [Service(kind, 7000, f"Wave {number} {index}", [f"id={int(number):08x}{index:08x}"]) for index in range(int(each))]
        self.services.update({service.name: service for service in new})
        self.send(item for service in new for item in service.records())
        self.shown.append(new)
        if len(self.shown) > 2:
            left = self.shown.pop(0)
            for service in left:
                del self.services[service.name]
            self.send(item for service in left for item in service.records(goodbye=True))

    def obey(self, line):
        words = shlex.split(line)
        if words[:1] == ["add"]:
            self.add(Service(words[1], words[2], words[3], words[4:]))
        elif words[:1] == ["goodbye"]:
            self.goodbye(words[1])
        elif words[:1] == ["wave"]:
            self.wave(*words[1:])
        elif words in (["mute"], ["speak"]):
            self.is_muted = words == ["mute"]
        elif words:
            print(f"responder: what is “{line}”?", file=sys.stderr)

    def serve(self, timeout=None, more=()):
        readable, _, _ = select.select([*self.sockets, *more], [], [], timeout)
        for peer in readable:
            if peer in self.sockets:
                self.answer(peer)
        return [item for item in readable if item not in self.sockets]


def main():
    responder = Responder()
    steering = open(0, "rb", buffering=0)
    rest = b""
    while True:
        if responder.serve(more=[steering]):
            data = steering.read(65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                responder.obey(line.decode())


main()
