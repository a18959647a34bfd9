#!/usr/bin/env python3
"""Runs a command at a terminal of its own, answers its first question, and prints what the terminal showed.

    terminal.py ANSWER COMMAND [ARGUMENT...]

The answer is typed when a line ends with `[y/N] `. Ends as the command does.
"""
import os
import pty
import sys

answer, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown = b""
answered = False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    if not answered and shown.endswith(b"[y/N] "):
        answered = True
        os.write(terminal, answer.encode() + b"\n")
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(status))
