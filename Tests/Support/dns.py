#!/usr/bin/env python3
"""A DNS server for one domain with services in it (wide-area DNS-SD, RFC 6763), on UDP port 53 of every address.

    dns.py DOMAIN [TYPE PORT NAME ADDRESS]...

Prints a line with the name and the type of every question that it is asked.
"""
import ipaddress
import socket
import struct
import sys

A, PTR, TXT, AAAA, SRV = 1, 12, 16, 28, 33


def labels(*parts):
    """A domain name of labels; the last part may hold dots."""
    words = [part.encode() for part in parts[:-1]] + [word.encode() for word in parts[-1].split(".")]
    return b"".join(bytes([len(word)]) + word for word in words) + b"\0"


def zone(domain, words):
    """The records: pairs of name and type to lists of data."""
    records = {}
    for kind, port, name, address in zip(*[iter(words)] * 4):
        instance, host = labels(name, f"{kind}.{domain}"), labels(name.lower(), domain)
        packed = ipaddress.ip_address(address).packed
        records.setdefault((labels(f"{kind}.{domain}"), PTR), []).append(instance)
        records[instance, SRV] = [struct.pack(">HHH", 0, 0, int(port)) + host]
        records[instance, TXT] = [b"\0"]
        records[host, A if len(packed) == 4 else AAAA] = [packed]
    return {(name.lower(), kind): data for (name, kind), data in records.items()}


def main():
    records = zone(sys.argv[1], sys.argv[2:])
    names = {name for name, _ in records}
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", 53))
    print("ready", flush=True)
    while True:
        query, asker = server.recvfrom(512)
        end = 12
        while query[end]:
            end += 1 + query[end]
        end += 1
        name, kind = query[12:end], struct.unpack_from(">H", query, end)[0]
        print(name, kind, flush=True)
        answers = records.get((name.lower(), kind), [])
        # An authoritative answer; NXDOMAIN where there is nothing of that name (RFC 1035, section 4.1.1).
        flags = 0x8500 | (0 if name.lower() in names else 3)
        head = query[:2] + struct.pack(">HHHHH", flags, 1, len(answers), 0, 0)
        body = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 120, len(data)) + data for data in answers)
        server.sendto(head + query[12:end + 4] + body, asker)


main()
