#!/usr/bin/env python3
"""Cuts the power at every moment of a story of a host and a companion, and looks for what was acknowledged and is lost.

    power_cut.py TOOL SHIM

TOOL is pairtool, SHIM what is compiled from power_cut.c. Both programs run once, and what they write is recorded. Then, for each
moment, two disks are made. One has lost whatever was not synced: contents without fsync, and names whose directory was not
synced. The other has all names, as of a file system that writes those first, but contents only as they were synced. On each,
everything that the programs had said by then has to be there. Prints a line of JSON: how many moments and disks there were, and what
was lost. Exits with 1 if anything was.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

TOOL, SHIM = sys.argv[1:3]
PATIENCE = 120
place = pathlib.Path(tempfile.mkdtemp(prefix="pairtool-cut."))
root, log, other = place / "disk", place / "log", place / "other"


def environment(name):
    home = root / name
    values = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": f"{home}/data", "XDG_STATE_HOME": f"{home}/state",
              "XDG_CONFIG_HOME": f"{home}/config", "XDG_RUNTIME_DIR": str(other / name), "LC_ALL": "C.UTF-8",
              "SWIFT_BACKTRACE": "enable=no"}
    return values


def recorded(name):
    return {**environment(name), "LD_PRELOAD": SHIM, "POWER_CUT_ROOT": str(root), "POWER_CUT_LOG": str(log)}


def run(name, *words):
    done = subprocess.run([TOOL, *words], env=recorded(name), cwd=other, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}: {done.stdout.decode()}")
    return done.stdout.decode()


def host():
    program = subprocess.Popen([TOOL, "host", "--name", "Shed", "--project", str(other / "garden"), "--engine", "embedded",
                                "--port", "0", "--tls-port", "0", "--qr-file", str(other / "code.png")],
                               env=recorded("host"), cwd=other, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    for line in program.stdout:
        if line.startswith(b"Advertised"):
            return program
    sys.exit("the host did not start")


def stop(program):
    program.send_signal(signal.SIGINT)
    program.stdout.read()
    program.wait(PATIENCE)


def play():
    """The story. What it says is in the record."""
    for folder in (root / "host", root / "desk", other / "host", other / "desk", other / "garden"):
        folder.mkdir(parents=True, mode=0o700)
    log.touch()
    program = host()
    run("desk", "pair", "--qr", str(other / "code.png"), "--name", "desk")
    run("desk", "chats", "new", "garden", "--title", "Plans")
    run("host", "host", "rules", "add", "deny", "--path", ".git")
    run("host", "host", "permissions", "desk", "--add", "approve")
    stop(program)
    run("desk", "send", "Plans", "list", "--queue")
    program = host()
    run("desk", "outbox", "send")
    run("host", "host", "revoke", "desk")
    stop(program)


# What is said, and what has to be there from then on, until something else is said.

def hosts():
    return asked("hosts")


def asked(*words):
    done = subprocess.run([TOOL, *words, "--json"], env=environment("desk"), cwd=other, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or any("error" in line for line in lines):
        raise LookupError(f"{' '.join(words)}: {done.returncode}: {(done.stdout + done.stderr).decode()}")
    return lines


def rows(question):
    path = root / "host/data/pairtool/host/host.sqlite"
    if not path.exists():
        return []
    database = sqlite3.connect(path)
    try:
        return database.execute(question).fetchall()
    finally:
        database.close()


PROMISES = [
    # When, whether the companion's disk or the host's has it, until when, and how it is seen.
    (r"Paired with Shed", "desk", r"Revoked", lambda: len(hosts()) == 1),
    (r"Paired with Shed", "host", None, lambda: len(rows("SELECT 1 FROM device WHERE name = 'desk'")) == 1),
    (r"Chat “Plans”", "host", None, lambda: len(rows("SELECT 1 FROM chat WHERE title = 'Plans'")) == 1),
    (r"deny.*\.git", "host", None, lambda: len(rows("SELECT 1 FROM audit WHERE kind = 'rule.added'")) == 1),
    (r"desk \(\w+\) may:", "host", r"Revoked", lambda: rows("SELECT permissions FROM device")[0][0].find("approve") >= 0),
    (r"The prompt waits as", "desk", r"› list", lambda: len(asked("outbox")) == 1),
    (r"Revoked|may not connect", "host", None, lambda: rows("SELECT revokedAt FROM device")[0][0] is not None),
]


class Disk:
    def __init__(self):
        self.current, self.synced = {}, {}
        self.names, self.folders = {}, set()
        self.entries = {}

    def happens(self, kind, inode, offset, data, name, new):
        if kind == "entry":
            if inode not in self.names.values():
                self.current[inode], self.synced[inode] = bytearray(), b""
            self.names[name] = inode
        elif kind == "made":
            self.folders.add(name)
            self.entries.pop(name, None)
        elif kind == "write":
            content = self.current.setdefault(inode, bytearray())
            content.extend(bytes(max(offset - len(content), 0)))
            content[offset:offset + len(data)] = data
        elif kind == "truncate":
            content = self.current.setdefault(inode, bytearray())
            del content[offset:]
            content.extend(bytes(offset - len(content)))
        elif kind == "sync":
            self.synced[inode] = bytes(self.current.get(inode, b""))
        elif kind == "syncdir":
            self.entries[name] = {path: self.names.get(path) for path in [*self.names, *self.folders] if os.path.dirname(path) == name}
        elif kind == "gone":
            self.names.pop(name, None)
            self.folders.discard(name)
        elif kind == "rename" and name in self.names:
            self.names[new] = self.names.pop(name)

    def lost(self):
        """What is there if only what was synced is."""
        found, folders = {}, [str(root / "host"), str(root / "desk")]
        while folders:
            folder = folders.pop()
            for path, inode in self.entries.get(folder, {}).items():
                if inode is None:
                    found[path] = None
                    folders.append(path)
                else:
                    found[path] = self.synced.get(inode, b"")
        return found

    def named(self):
        """What is there if names came first."""
        return {**{path: None for path in self.folders}, **{path: self.synced.get(inode, b"") for path, inode in self.names.items()}}


def entries():
    with open(log, "rb") as file:
        while line := file.readline():
            kind, inode, offset, size, name, new = line.decode().split()
            yield kind, int(inode), int(offset), file.read(int(size)), urllib.parse.unquote(name), urllib.parse.unquote(new)


def laid_out(tree, owner):
    """Writes the part of a disk that is the host's or the companion's."""
    top = root / owner
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(mode=0o700)
    for path in sorted(tree):
        if pathlib.Path(path).is_relative_to(top):
            if tree[path] is None:
                os.makedirs(path, mode=0o700, exist_ok=True)
            else:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(tree[path])


def part(tree, owner):
    top = str(root / owner) + "/"
    digest = hashlib.sha256()
    for path in sorted(tree):
        # What other processes share in memory is no content.
        if path.startswith(top) and not path.endswith("-shm"):
            digest.update(repr((path, tree[path])).encode())
    return digest.digest()


def main():
    play()
    disk, said, seen, lost, moments = Disk(), "", set(), [], 0
    for kind, inode, offset, data, name, new in entries():
        if kind == "said":
            said += data.decode(errors="replace")
        else:
            disk.happens(kind, inode, offset, data, name, new)
        moments += 1
        for what, tree in (("only what was synced", disk.lost()), ("all names", disk.named())):
            for owner in ("host", "desk"):
                due = [index for index, (begin, whose, end, _) in enumerate(PROMISES) if whose == owner and re.search(begin, said)
                       and not (end and re.search(end, said))]
                state = (owner, part(tree, owner), tuple(due))
                if state in seen:
                    continue
                seen.add(state)
                laid_out(tree, owner)
                for index in due:
                    try:
                        kept = PROMISES[index][3]()
                    except (LookupError, sqlite3.Error, TypeError, AttributeError) as error:
                        kept, said_of = False, str(error)
                    else:
                        said_of = ""
                    if not kept:
                        lost.append({"promise": PROMISES[index][0], "moment": moments, "disk": f"{owner}, {what}", "behind": f"{kind} {name}", "why": said_of[:300]})
                if owner == "host" and rows("PRAGMA integrity_check") not in ([], [("ok",)]):
                    lost.append({"promise": "a sound database", "moment": moments, "disk": f"{owner}, {what}", "behind": f"{kind} {name}", "why": ""})
    unsaid = [begin for begin, _, _, _ in PROMISES if not re.search(begin, said)]
    print(json.dumps({"moments": moments, "disks": len(seen), "lost": lost, "unsaid": unsaid}, ensure_ascii=False))
    if unsaid:
        print(said, file=sys.stderr)
    return 1 if lost or unsaid else 0


try:
    status = main()
finally:
    shutil.rmtree(place, ignore_errors=True)
sys.exit(status)
