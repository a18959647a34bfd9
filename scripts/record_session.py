"""Records what commands show at a terminal, and draws it as an SVG file. See scripts/make-session-picture.

    record_session.py record FILE DIRECTORY COMMAND...    runs the commands in the directory, each by `sh -c`
    record_session.py draw FILE SVG TITLE

Further lines of a COMMAND are typed at it, each once `pairtool chat` shows its prompt.
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
TEXT, DIM, BOLD = "#d0d7de", "#8b949e", "#ffffff"
# The colours of SGR 30 to 37 and 90 to 97.
COLOURS = ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", TEXT]
BRIGHT = [DIM, "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#d2a8ff", "#76e3ea", BOLD]
BACKGROUND, TITLE = "#0d1117", "#161b22"
SEQUENCE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]|\x1b\].*?(?:\x07|\x1b\\)|\r|\n|[^\x1b\r\n]", re.S)
# The prompt of `pairtool chat` before anything is typed there.
READS = "› \x1b[?7h".encode()


def run(command, typed):
    """What a command shows at a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ["TERM"] = "xterm-256color"
        os.execvp("sh", ["sh", "-c", command])
    shown, reads = b"", 0
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            break
        shown += part
        while reads < min(shown.count(READS), len(typed)):
            os.write(terminal, typed[reads].encode() + b"\r")
            reads += 1
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
    session = []
    for command, *typed in (lines.split("\n") for lines in commands):
        session.append({"command": command, "shown": run(command, typed)})
    with open(file, "w") as out:
        json.dump(session, out)


class Screen:
    """The rows that stand at the terminal in the end, as lists of (character, style). A style is a set of SGR codes."""

    def __init__(self, shown):
        self.rows, self.row, self.column, self.style = [[]], 0, 0, frozenset()
        for part in SEQUENCE.findall(shown):
            if part == "\n":
                self.down(1)
            elif part == "\r":
                self.column = 0
            elif part[0] != "\x1b":
                self.put(part)
            elif part[1] == "[":
                self.obey(part, part[-1], part[2:-1])
        while self.rows and not self.rows[-1]:
            self.rows.pop()

    def down(self, count):
        self.row += count
        self.rows.extend([] for _ in range(self.row + 1 - len(self.rows)))

    def put(self, character):
        if self.column == COLUMNS:
            self.down(1)
            self.column = 0
        line = self.rows[self.row]
        line.extend([(" ", frozenset())] * (self.column - len(line)))
        line[self.column:self.column + 1] = [(character, self.style)]
        self.column += 1

    def obey(self, part, letter, words):
        if words[:1] == "?":
            return
        numbers = [int(word or 0) for word in words.split(";")]
        count = max(1, numbers[0])
        if letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "B":
            self.down(count)
        elif letter == "C":
            self.column = min(COLUMNS - 1, self.column + count)
        elif letter == "K" and numbers[0] == 0:
            del self.rows[self.row][self.column:]
        elif letter == "J" and numbers[0] == 0:
            del self.rows[self.row][self.column:]
            del self.rows[self.row + 1:]
        elif letter == "m":
            for number in numbers:
                self.style = self.style | {number} if number else frozenset()
        else:
            sys.exit(f"draw: {part!r} is not known")


def look(style):
    """The attributes in SVG of text in a style."""
    fill = next((colours[code - first] for code in style for first, colours in ((30, COLOURS), (90, BRIGHT))
                 if first <= code < first + 8), DIM if 2 in style else BOLD if 1 in style else TEXT)
    decoration = " ".join(name for code, name in ((4, "underline"), (9, "line-through")) if code in style)
    return (f'fill="{fill}"' + ' font-weight="bold"' * (1 in style) + ' font-style="italic"' * (3 in style)
            + (f' text-decoration="{decoration}"' if decoration else ""))


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
        prompt = [(c, frozenset({92})) for c in "$ "] + [(c, frozenset({1})) for c in entry["command"]]
        lines += [[]] * bool(lines) + [prompt] + Screen(entry["shown"]).rows
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
        f'<text x="{width / 2:g}" y="{BAR / 2 + 5:g}" text-anchor="middle" fill="{DIM}">{escape(title)}</text>',
    ]
    for number, line in enumerate(lines):
        y = BAR + BORDER + number * HEIGHT + SIZE
        for column, text, style in runs(line):
            # The length keeps columns in line, whichever font there is.
            out.append(
                f'<text x="{BORDER + column * WIDTH:g}" y="{y}" textLength="{len(text) * WIDTH:g}" '
                f'{look(style)}>{escape(text)}</text>'
            )
    with open(svg, "w") as result:
        result.write("\n".join([*out, "</svg>", ""]))


if len(sys.argv) > 4 and sys.argv[1] == "record":
    record(sys.argv[2], sys.argv[3], sys.argv[4:])
elif len(sys.argv) == 5 and sys.argv[1] == "draw":
    draw(*sys.argv[2:])
else:
    sys.exit(__doc__)
