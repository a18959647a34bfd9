#!/usr/bin/env python3
"""Runs a command at a terminal of its own, types at it, and tells what it showed.

    terminal.py [--size COLUMNSxROWS] [--at TEXT TYPED]... COMMAND [ARGUMENT...]
    terminal.py [--size COLUMNSxROWS] --follow COMMAND [ARGUMENT...]

Each TYPED is typed once its TEXT is shown, behind that of the one before. At the end, what the terminal showed is printed, and
the script ends as the command does.

With --follow, what is typed comes from standard input, a JSON string a line, and everything that was shown so far is printed as
a line of JSON, {"shown": TEXT}, whenever there is more; {"status": NUMBER, "echoes": BOOL} is the last, with whether the
terminal shows what is typed. [COLUMNS, ROWS] makes the window another size, and a number is a signal for the command. The
command is hung up on with standard input. After three minutes all ends in any case: what was waited for does not come.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios


def begin(command, columns, rows):
    """A command at a terminal: the process id, and the terminal's other end."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ.setdefault("TERM", "xterm")
        os.execvp(command[0], command)
    return child, terminal


def read(terminal):
    """What is shown next; nothing at the end."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def text(shown):
    return re.sub("\r+\n", "\n", shown.decode(errors="replace"))


def play(terminal, steps):
    shown, place = b"", 0
    while part := read(terminal):
        shown += part
        while steps and (found := shown.find(steps[0][0].encode(), place)) >= 0:
            awaited, typed = steps.pop(0)
            place = found + len(awaited.encode())
            os.write(terminal, typed.encode())
    sys.stdout.write(text(shown))


def act(child, terminal, what):
    """Types a text, sends a signal, or changes the window's size."""
    if isinstance(what, str):
        os.write(terminal, what.encode())
    elif isinstance(what, int):
        os.kill(child, what)
    else:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", what[1], what[0], 0, 0))


def follow(child, terminal):
    """Returns whether the terminal is still there."""
    shown, rest, inputs = b"", b"", [terminal, 0]
    while True:
        ready, _, _ = select.select(inputs, [], [])
        if terminal in ready:
            part = read(terminal)
            if not part:
                return True
            shown += part
            print(json.dumps({"shown": text(shown)}, ensure_ascii=False), flush=True)
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                os.close(terminal)
                return False
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                act(child, terminal, json.loads(line))


def main():
    words, size, steps, follows = sys.argv[1:], "80x24", [], False
    while words and words[0].startswith("--"):
        option = words.pop(0)
        if option == "--size":
            size = words.pop(0)
        elif option == "--at":
            steps.append((words.pop(0), words.pop(0)))
        elif option == "--follow":
            follows = True
        else:
            sys.exit(f"terminal.py does not know {option}")
    signal.alarm(180)
    child, terminal = begin(words, *map(int, size.split("x")))
    if follows:
        is_open = follow(child, terminal)
    else:
        play(terminal, steps)
    _, status = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(status)
    if follows:
        echoes = bool(termios.tcgetattr(terminal)[3] & termios.ECHO) if is_open else None
        print(json.dumps({"status": status, "echoes": echoes}), flush=True)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
