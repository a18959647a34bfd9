"""An X server of its own without a screen, into which pictures are painted; ends with its standard input.

    xscreen.py [--depth 24|16]

Prints a line of JSON with the display when it is ready, and one for each line of input that it has done:

    paint FILE        shows a greymap (binary PGM)
    copy TYPE FILE    puts a file into the clipboard, by xclip
"""
import argparse, ctypes, json, mmap, os, signal, struct, subprocess, sys, tempfile


def tell(**fields):
    print(json.dumps(fields), flush=True)


def read_greymap(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, width, height, most, pixels = data.split(maxsplit=4) if data[:2] == b"P5" else (None,) * 5
    # One blank ends the header; a picture that begins with a blank would lose it, so count from the end.
    size = int(width) * int(height)
    return int(width), int(height), data[-size:]


def paint(folder, depth, path):
    width, height, pixels = read_greymap(path)
    with open(os.path.join(folder, "Xvfb_screen0"), "r+b") as file, mmap.mmap(file.fileno(), 0) as screen:
        # An XWD file (X11/XWDFile.h): 25 numbers, names and colours, then the rows.
        header = struct.unpack(">25I", screen[:100])
        start, row, columns = header[0] + header[19] * 12, header[12], header[4]
        for y in range(height):
            line = pixels[y * width:(y + 1) * width]
            if depth == 24:
                row_bytes = b"".join(struct.pack("<I", shade * 0x010101) for shade in line)
            else:
                row_bytes = b"".join(
                    struct.pack("<H", (shade >> 3) << 11 | (shade >> 2) << 5 | shade >> 3) for shade in line
                )
            place = start + (y + 40) * row + 60 * (4 if depth == 24 else 2)
            screen[place:place + len(row_bytes)] = row_bytes


def end_with_this():
    """In a program that is about to be started: it ends with this one, also where that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        reader, writer = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"800x600x{options.depth}", "-fbdir", folder,
             "-nolisten", "tcp", "-noreset"],
            pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_this,
        )
        try:
            os.close(writer)
            display = ":" + os.read(reader, 16).decode().strip()
            tell(display=display)
            for number, line in enumerate(sys.stdin, start=1):
                word, *arguments = line.split()
                if word == "paint":
                    paint(folder, options.depth, arguments[0])
                elif word == "copy":
                    # It stays in the background, until the server ends.
                    subprocess.run(
                        ["xclip", "-selection", "clipboard", "-t", arguments[0], "-i", arguments[1]],
                        env=dict(os.environ, DISPLAY=display), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        check=True,
                    )
                tell(done=number)
        finally:
            server.terminate()
            server.wait()


main()
