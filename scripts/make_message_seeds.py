"""Writes messages of other programs on the network, one a format, for scripts/fuzz to change.

    make_message_seeds.py DIRECTORY
"""
import json
import pathlib
import struct
import sys


def dns():
    """What a responder says of one service: SRV, TXT and an address (RFC 6762)."""
    def name(*labels):
        return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"

    def record(owner, kind, data):
        return owner + struct.pack(">HHIH", kind, 0x8001, 120, len(data)) + data

    service, host = name(b"Studio", b"_copilotforge", b"_tcp", b"local"), name(b"studio", b"local")
    texts = b"".join(bytes([len(text)]) + text for text in (b"v=2", b"deviceId=0123456789abcdef", b"name=Studio"))
    records = [
        record(service, 33, struct.pack(">HHH", 0, 0, 7879) + host),
        record(service, 16, texts),
        record(host, 1, bytes([192, 168, 1, 5])),
        # Its owner by a pointer to the name in the first record.
        record(b"\xc0\x0c", 28, bytes(15) + b"\1"),
    ]
    return struct.pack(">6H", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def dbus():
    """Signals with numbers, and with results by their names (D-Bus specification, "Message Format")."""
    def padded(data, size):
        return data + bytes(-len(data) % size)

    def text(value):
        return struct.pack("<I", len(value)) + value + b"\0"

    def field(code, kind, value):
        return padded(bytes([code, 1]) + kind + b"\0" + value, 8)

    def signal(signature, body):
        fields = b"".join([
            field(1, b"o", text(b"/org/example")), field(2, b"s", text(b"org.example.Test")), field(3, b"s", text(b"Told")),
            bytes([8, 1]) + b"g\0" + bytes([len(signature)]) + signature + b"\0",
        ])
        return padded(struct.pack("<4B3I", ord("l"), 4, 0, 1, len(body), 7, len(fields)) + fields, 8) + body

    entry = padded(text(b"uri"), 4) + b"\1s\0" + b"\0" + text(b"file:///a.png")
    return {
        "numbers": signal(b"sau", padded(text(b"hello"), 4) + struct.pack("<I2I", 8, 1, 2)),
        # As a portal answers: a code, and results by their names.
        "results": signal(b"ua{sv}", struct.pack("<2I", 0, len(entry)) + entry),
    }


def relay():
    """All that a relay sends to hosts and devices."""
    def opaque(data):
        return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)

    def message(kind, body=b""):
        return struct.pack(">3I", 0x9E79BC40, kind, len(body)) + body

    success = struct.pack(">I", 0) + opaque(b"success")
    invitation = opaque(bytes(range(32))) + opaque(b"12345678") + opaque(bytes([127, 0, 0, 1]))
    return b"".join([
        message(4, success), message(0), message(1), message(6, invitation + struct.pack(">HHI", 0, 22067, 1)), message(7),
    ])


def lumi():
    """Two payloads: an answer with a result, and one with an error."""
    uuid = "5F3B2C1A-0000-4000-8000-000000000001"
    answers = [
        {"id": uuid, "success": True, "result": {"conversations": [{"id": uuid, "title": "One"}]}},
        {"id": uuid, "success": False, "error": "unknown command"},
    ]
    payloads = [json.dumps(answer).encode() for answer in answers]
    return b"".join(struct.pack(">I", len(payload)) + payload for payload in payloads)


def aicli():
    """A turn as a server tells it, with a question in it."""
    def chunk(**members):
        return {"type": "streamChunk", "timestamp": "2026-01-01T00:00:00Z", "data": {"sessionId": "s1", "chunk": members}}

    frames = [
        {"type": "welcome", "data": {"clientId": "c", "maxSessions": 10}},
        {"type": "streamStart", "requestId": "streamStart-1-1", "data": {"sessionId": "s1"}},
        {"type": "subscribe", "requestId": "subscribe-1-2", "data": {}},
        {"type": "pong", "requestId": "ping-1-3", "data": {}},
        chunk(id="1", type="text", content="Half.", isFinal=False),
        chunk(id="2", type="tool_use", content={"name": "Read", "input": {"file_path": "a"}}, isFinal=False),
        {"type": "permissionRequest", "data": {
            "sessionId": "s1", "requestId": "p1", "prompt": "Allow?", "options": ["y", "n"], "default": "n", "timeout": 30,
        }},
        {"type": "error", "error": {"code": "SESSION_LIMIT", "message": "no"}},
        {"type": "claudeResponse", "requestId": "claudeCommand-1-4", "data": {"content": "Because.", "success": True}},
    ]
    return b"\n".join(json.dumps(frame).encode() for frame in frames)


def git():
    """What `git diff-tree -z --raw --numstat -p` says of a changed file, a renamed one and three entries as of submodules:
    the host's snapshots name so what they left out (ffffffff) and other repositories (fffffffe)."""
    old, new, none = "1" * 40, "2" * 40, "0" * 40
    entries = {"sub": new, "big": "f" * 40, "other": "fffffffe" + "0" * 32}
    raw = [
        f":100644 100644 {old} {new} M", "a", f":100644 100644 {old} {old} R100", "b", "c",
        *(word for name, id in entries.items() for word in (f":000000 160000 {none} {id} A", name)), "3\t1\ta", "0\t0\t", "b", "c", "",
    ]
    patch = f"diff --git a/a b/a\nindex {old[:7]}..{new[:7]} 100644\n--- a/a\n+++ b/a\n@@ -1 +1,3 @@\n-x\n+y\n+z\n"
    for name, id in entries.items():
        patch += f"diff --git a/{name} b/{name}\nnew file mode 160000\n--- /dev/null\n+++ b/{name}\n"
        patch += f"@@ -0,0 +1 @@\n+Subproject commit {id}\n"
    return "\0".join(raw).encode() + patch.encode()


def provider():
    """Streams of the formats, each behind the byte that chooses it."""
    tool = {"index": 0, "id": "t", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    openai = [{"choices": [{"delta": {"content": "Hi"}}]}, {"choices": [{"delta": {"tool_calls": [tool]}}]},
              {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    anthropic = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    gemini = [{"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}]
    ollama = [{"message": {"content": "Hi"}, "done": False}, {"message": {"content": ""}, "done": True, "done_reason": "stop"}]

    def events(values, end=""):
        return "".join(f"data: {json.dumps(value)}\n\n" for value in values) + end

    return {
        "openai": b"\0" + events(openai, "data: [DONE]\n\n").encode(),
        "anthropic": b"\2" + "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in anthropic).encode(),
        "gemini": b"\3" + events(gemini).encode(),
        "ollama": b"\4" + "".join(json.dumps(value) + "\n" for value in ollama).encode(),
    }


def websocket():
    """A message in two frames, a ping between them, and a close (RFC 6455)."""
    text = json.dumps({"type": "message", "chatId": "c", "projectId": "p"}).encode()
    half = len(text) // 2

    def frame(first, data):
        return bytes([first, len(data)]) + data

    return b"".join([
        frame(0x01, text[:half]), frame(0x89, b"p"), frame(0x80, text[half:]), frame(0x88, struct.pack(">H", 1000)),
    ])


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for make in (dns, dbus, relay, lumi, aicli, git, provider, websocket):
        made = make()
        for kind, data in (made if isinstance(made, dict) else {"seed": made}).items():
            (directory / f"{make.__name__}.{kind}").write_bytes(data)


main()
