#!/usr/bin/env python3
"""A desktop's notification service on the bus whose socket the first argument names (D-Bus specification; Desktop
Notifications Specification 1.2), steered by lines on standard input:

    choose NUMBER ACTION     Somebody has chosen an action of a notification.
    forge NUMBER ACTION      Another program on the bus claims so, to whoever showed the notification.

The other arguments are its capabilities. A line of JSON tells of each call: {"call": "ready" | "Notify" | "CloseNotification", …}.
"""
import json
import os
import select
import socket
import struct
import sys

NAME, PATH, BUS = "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.DBus"


def pad(data, alignment):
    return data + b"\0" * (-len(data) % alignment)


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def signature(value):
    return bytes([len(value)]) + value.encode() + b"\0"


def values(kinds, items):
    data = b""
    for kind, item in zip(kinds, items):
        if kind == "a":
            inner = b""
            for word in item:
                inner = pad(inner, 4) + text(word)
            data = pad(data, 4) + struct.pack("<I", len(inner)) + inner
        else:
            data = pad(data, 4) + (text(item) if kind == "s" else struct.pack("<I", item))
    return data


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def align(self, alignment):
        self.at += -self.at % alignment

    def number(self, form="<I"):
        size = struct.calcsize(form)
        self.align(size)
        self.at += size
        return struct.unpack_from(form, self.data, self.at - size)[0]

    def text(self, length=None):
        length = self.number() if length is None else length
        self.at += length + 1
        return self.data[self.at - length - 1:self.at - 1].decode()

    def value(self, kinds):
        """A value of the first type of the kinds; and what is left of them."""
        kind, rest = kinds[0], kinds[1:]
        if kind in "so":
            return self.text(), rest
        if kind == "g":
            return self.text(self.number("B")), rest
        if kind == "y":
            return self.number("B"), rest
        if kind in "ui":
            return self.number("<I" if kind == "u" else "<i"), rest
        if kind == "v":
            return self.value(self.text(self.number("B")))[0], rest
        length = self.number()
        if rest.startswith("{sv}"):
            self.align(8)
            end, result = self.at + length, {}
            while self.at < end:
                self.align(8)
                key = self.text()
                result[key] = self.value("v")[0]
            return result, rest[4:]
        end, result = self.at + length, []
        while self.at < end:
            result.append(self.value(rest)[0])
        return result, rest[1:]


class Bus:
    def __init__(self, path):
        self.socket, self.received, self.serial = socket.socket(socket.AF_UNIX), b"", 0
        self.socket.connect(path)
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(4096).startswith(b"OK ")
        self.socket.sendall(b"BEGIN\r\n")
        self.name = self.call(BUS, "/org/freedesktop/DBus", BUS, "Hello")

    def send(self, kind, fields, kinds="", items=()):
        self.serial += 1
        data, body = b"", values(kinds, items)
        if kinds:
            fields = fields + [(8, "g", "".join("as" if kind == "a" else kind for kind in kinds))]
        for code, form, value in fields:
            data = pad(data, 8) + bytes([code]) + signature(form)
            if form == "g":
                data += signature(value)
            elif form == "u":
                data = pad(data, 4) + struct.pack("<I", value)
            else:
                data = pad(data, 4) + text(value)
        head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), self.serial, len(data))
        self.socket.sendall(pad(head + data, 8) + body)
        return self.serial

    def call(self, service, path, interface, member, kinds="", items=()):
        serial = self.send(
            1, [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", service)], kinds, items
        )
        while True:
            for message in self.messages():
                if message["fields"].get(5) == serial:
                    assert message["kind"] == 2, message
                    return message["body"][0] if message["body"] else None

    def messages(self):
        data = self.socket.recv(65536)
        if not data:
            sys.exit(0)
        self.received += data
        result = []
        while len(self.received) >= 16:
            body, serial, fields = struct.unpack_from("<III", self.received, 4)
            start = 16 + fields + (-fields % 8)
            if len(self.received) < start + body:
                break
            message = {"kind": self.received[1], "serial": serial, "fields": {}, "body": []}
            reader = Reader(self.received[:16 + fields])
            reader.at = 16
            while reader.at < 16 + fields:
                reader.align(8)
                code = reader.number("B")
                message["fields"][code], _ = reader.value(reader.text(reader.number("B")))
            reader, kinds = Reader(self.received[start:start + body]), message["fields"].get(8, "")
            while kinds:
                value, kinds = reader.value(kinds)
                message["body"].append(value)
            self.received = self.received[start + body:]
            result.append(message)
        return result

    def signal(self, member, kinds, items, to=None):
        fields = [(1, "o", PATH), (2, "s", NAME), (3, "s", member)] + ([(6, "s", to)] if to else [])
        self.send(4, fields, kinds, items)


def tell(call, **more):
    print(json.dumps({"call": call, **more}), flush=True)


def main():
    bus, capabilities = Bus(sys.argv[1]), sys.argv[2:]
    assert bus.call(BUS, "/org/freedesktop/DBus", BUS, "RequestName", "su", (NAME, 4)) == 1
    forger, shown, last, lines = None, {}, 0, b""
    tell("ready")
    while True:
        ready, _, _ = select.select([bus.socket, 0], [], [])
        if 0 in ready:
            data = os.read(0, 4096)
            if not data:
                return
            lines += data
            while b"\n" in lines:
                line, lines = lines.split(b"\n", 1)
                command, number, *rest = line.decode().split()
                number = int(number)
                if command == "choose":
                    bus.signal("ActionInvoked", "us", (number, rest[0]))
                    bus.signal("NotificationClosed", "uu", (number, 2))
                else:
                    forger = forger or Bus(sys.argv[1])
                    forger.signal("ActionInvoked", "us", (number, rest[0]), to=shown[number])
        if bus.socket not in ready:
            continue
        for message in bus.messages():
            if message["kind"] != 1:
                continue
            member, caller = message["fields"].get(3), message["fields"].get(7)
            answer = [(5, "u", message["serial"]), (6, "s", caller)]
            if member == "GetCapabilities":
                bus.send(2, answer, "a", (capabilities,))
            elif member == "Notify":
                last += 1
                shown[last] = caller
                _, _, _, title, body, actions, hints, _ = message["body"]
                bus.send(2, answer, "u", (last,))
                tell("Notify", number=last, title=title, body=body, actions=actions, urgency=hints.get("urgency"))
            elif member == "CloseNotification":
                bus.send(2, answer)
                tell("CloseNotification", number=message["body"][0])
            else:
                bus.send(3, answer + [(4, "s", BUS + ".Error.UnknownMethod")])


main()
