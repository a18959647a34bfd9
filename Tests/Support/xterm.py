"""A command in an xterm of its own, in an X server without a screen; ends with its standard input.

    xterm.py [--size COLUMNSxROWS] [--background COLOUR] [--foreground COLOUR] [--apart] COMMAND [ARGUMENT...]

Each line of input names a file: what the window shows is written to it as a greymap (binary PGM), and its text is printed as a
line of JSON, {"text": TEXT, "number": NUMBER}. xterm itself says what the text is, once it has shown all that came before. With
--apart, the command runs in a network namespace of its own with a loopback interface.
"""
import argparse, ctypes, json, mmap, os, re, signal, socket, struct, subprocess, sys, tempfile

# Beyond the largest window that is asked for.
SCREEN = (2200, 1400)
# The font that Debian and Ubuntu bring; it has no sextants.
FONT = ["-fa", "DejaVu Sans Mono", "-fs", "10"]


def inside(place, command):
    """In the terminal: runs the command, and asks the terminal for its text whenever a byte comes."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(place)
        child = subprocess.Popen(command)
        while control.recv(1):
            os.write(1, b"\x1b[i")
        child.terminate()
        child.wait()


def capture(folder, path):
    with open(os.path.join(folder, "Xvfb_screen0"), "rb") as file, mmap.mmap(
        file.fileno(), 0, access=mmap.ACCESS_READ
    ) as screen:
        # An XWD file (X11/XWDFile.h): 25 numbers, names and colours, then the rows, four bytes a pixel.
        header = struct.unpack(">25I", screen[:100])
        start, width, height, row = header[0] + header[19] * 12, header[4], header[5], header[12]
        with open(path, "wb") as picture:
            picture.write(b"P5 %d %d 255\n" % (width, height))
            for y in range(height):
                # Green stands for grey: what is shown here is black and white.
                picture.write(screen[start + y * row:start + y * row + 4 * width][1::4])


def end_with_this():
    """In a program that is about to be started: it ends with this one, also where that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="80x24")
    parser.add_argument("--background", default="black")
    parser.add_argument("--foreground", default="white")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command
    if options.apart:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"] + command
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        signal.alarm(180)
        reader, writer = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "%dx%dx24" % SCREEN, "-fbdir", folder, "-nolisten", "tcp",
             "-noreset"],
            pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_this,
        )
        try:
            os.close(writer)
            display = ":" + os.read(reader, 16).decode().strip()
            listener.bind(folder + "/control")
            listener.listen(1)
            part, whole, done = folder + "/part", folder + "/text", folder + "/done"
            os.mkfifo(done)
            terminal = subprocess.Popen(
                ["xterm", "-geometry", options.size + "+0+0", "-u8", "-bg", options.background, "-fg", options.foreground,
                 *FONT, "-xrm", f"*printerCommand: cat > {part}; mv {part} {whole}; echo > {done}", "-xrm", "*printerAutoClose: true",
                 "-xrm", "*printerControlMode: 0",
                 "-e", sys.executable, os.path.abspath(__file__), "--inside", folder + "/control", *command],
                env=dict(os.environ, DISPLAY=display), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )
            try:
                control, _ = listener.accept()
                for number, line in enumerate(sys.stdin, start=1):
                    control.send(b"?")
                    with open(done, encoding="utf-8") as pipe:
                        pipe.read()
                    with open(whole, encoding="utf-8", errors="replace") as file:
                        # Colours are printed, too.
                        text = re.sub(r"\x1b(#5|\[[0-9;-]*m)", "", file.read())
                    os.remove(whole)
                    capture(folder, line.strip())
                    print(json.dumps({"text": text, "number": number}), flush=True)
                control.close()
                terminal.wait()
            finally:
                terminal.terminate()
                terminal.wait()
        finally:
            server.terminate()
            server.wait()


if sys.argv[1:2] == ["--inside"]:
    inside(sys.argv[2], sys.argv[3:])
else:
    main()
