"""Records what commands show at a terminal, and draws it as an SVG file. See scripts/make-session-picture.

    record_session.py record FILE DIRECTORY COMMAND...    runs the commands in the directory, each by `sh -c`
    record_session.py draw FILE SVG TITLE
"""
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
from html import escape

COLUMNS, ROWS = 84, 40
# Widths and heights in pixels; a character is as wide as in most monospaced fonts of 14 pixels.
WIDTH, HEIGHT, SIZE, BORDER, BAR = 8.4, 20, 14, 16, 32
COLOURS = {"": "#d0d7de", "dim": "#8b949e", "bold": "#ffffff", "prompt": "#7ee787", "red": "#ff7b72",
           "green": "#7ee787", "yellow": "#e3b341", "blue": "#79c0ff", "cyan": "#76e3ea"}
BACKGROUND, TITLE = "#0d1117", "#161b22"
SGR = {1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow", 34: "blue", 36: "cyan"}


def run(command):
    """What a command shows at a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execvp("sh", ["sh", "-c", command])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            break
        shown += part
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        sys.exit(f"{command}: exit code {status}\n{shown.decode(errors='replace')}")
    return shown.decode()


def record(file, directory, commands):
    os.chdir(directory)
    # `pairtool` is the program that is looked at, wherever it is.
    tools = os.environ["XDG_RUNTIME_DIR"] + "/bin"
    os.makedirs(tools)
    os.symlink(os.environ["PAIRTOOL"], tools + "/pairtool")
    os.environ["PATH"] = tools + ":" + os.environ["PATH"]
    session = [{"command": command, "shown": run(command)} for command in commands]
    with open(file, "w") as out:
        json.dump(session, out)


def cells(shown):
    """The lines that stand at the terminal in the end, as lists of (character, style)."""
    lines, line, column, style = [], [], 0, ""
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]", shown):
        if part == "\n":
            lines, line, column = [*lines, line], [], 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b["):
            if part.endswith("m"):
                for number in [int(n or 0) for n in part[2:-1].split(";")]:
                    style = SGR.get(number, "" if number == 0 else style)
            elif part in ("\x1b[K", "\x1b[0K"):
                del line[column:]
            elif part not in ("\x1b[?25l", "\x1b[?25h"):
                sys.exit(f"draw: {part!r} is not known")
        else:
            if column == COLUMNS:
                lines, line, column = [*lines, line], [], 0
            line.extend([(" ", "")] * (column - len(line)))
            line[column:column + 1] = [(part, style)]
            column += 1
    return lines + ([line] if line else [])


def runs(line):
    """Yields column, text and style of each part of a line that looks the same; blanks are left out."""
    column = 0
    while column < len(line):
        end = column
        while end < len(line) and line[end][1] == line[column][1]:
            end += 1
        text = "".join(character for character, _ in line[column:end])
        for word in re.finditer(r"\S+(?: \S+)*", text):
            yield column + word.start(), word[0], line[column][1]
        column = end


def draw(file, svg, title):
    lines = []
    for entry in json.load(open(file)):
        prompt, command = [(c, "prompt") for c in "$ "], [(c, "bold") for c in entry["command"]]
        lines += [[]] * bool(lines) + [prompt + command] + cells(entry["shown"])
    width, height = COLUMNS * WIDTH + 2 * BORDER, len(lines) * HEIGHT + 2 * BORDER + BAR
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img">',
        "<title>A session with pairtool</title>",
        "<style>text { font: %dpx ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }</style>"
        % SIZE,
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        f'<path d="M0 {BAR}V8a8 8 0 0 1 8-8H{width - 8:g}a8 8 0 0 1 8 8V{BAR}z" fill="{TITLE}"/>',
        *(f'<circle cx="{20 + 20 * i}" cy="{BAR / 2:g}" r="6" fill="{colour}"/>'
          for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))),
        f'<text x="{width / 2:g}" y="{BAR / 2 + 5:g}" text-anchor="middle" fill="{COLOURS["dim"]}">{escape(title)}</text>',
    ]
    for number, line in enumerate(lines):
        y = BAR + BORDER + number * HEIGHT + SIZE
        for column, text, style in runs(line):
            weight = ' font-weight="bold"' if style == "bold" else ""
            # The length keeps columns in line, whichever font there is.
            out.append(
                f'<text x="{BORDER + column * WIDTH:g}" y="{y}" textLength="{len(text) * WIDTH:g}" '
                f'fill="{COLOURS[style]}"{weight}>{escape(text)}</text>'
            )
    with open(svg, "w") as result:
        result.write("\n".join([*out, "</svg>", ""]))


if len(sys.argv) > 4 and sys.argv[1] == "record":
    record(sys.argv[2], sys.argv[3], sys.argv[4:])
elif len(sys.argv) == 5 and sys.argv[1] == "draw":
    draw(*sys.argv[2:])
else:
    sys.exit(__doc__)
