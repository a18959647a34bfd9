"""Measures how many frames a second pairtool looks at, at 1280 × 720 and on one core.

The frames are pictures of the corpus, each with another code or none: two never agree, so that all are looked at.
"""
import subprocess
import sys
import time
from pathlib import Path

import bench_corpus

WIDTH, HEIGHT = 1280, 720
# Every so manieth picture of the corpus, all its grades and troubles among them.
STEP = 3


def frames(work: Path, row, tool: Path) -> None:
    pictures = [bench_corpus.FOLDER / picture["file"] for picture in bench_corpus.draw()[::STEP]]
    fit = ["-resize", f"{WIDTH}x{HEIGHT}^", "-gravity", "center", "-extent", f"{WIDTH}x{HEIGHT}", "-colorspace", "Gray"]
    y4m, mjpeg = work / "frames.y4m", work / "frames.mjpeg"
    with y4m.open("wb") as raw, mjpeg.open("wb") as packed:
        raw.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F30:1 C420jpeg\n".encode())
        for picture in pictures:
            grey = subprocess.run(["convert", picture, *fit, "-depth", "8", "gray:-"], stdout=subprocess.PIPE, check=True)
            raw.write(b"FRAME\n" + grey.stdout + bytes([128]) * (WIDTH * HEIGHT // 2))
            file = subprocess.run(["convert", picture, *fit, "-quality", "85", "jpg:-"], stdout=subprocess.PIPE, check=True)
            packed.write(file.stdout)
    for name, stream in (("YUV4MPEG2", y4m), ("JPEG", mjpeg)):
        start = time.perf_counter()
        # Of these frames no two show the same code: the exit code is that of nothing found.
        status = subprocess.run(
            ["taskset", "-c", "0", tool, "scan", "--frames", stream], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
        rate = len(pictures) / (time.perf_counter() - start)
        if status != 3:
            sys.exit(f"pairtool ended with {status} at frames of {name}")
        row(f"frames: {name}, {WIDTH} × {HEIGHT}, one core", f"{rate:.0f} a second", "", None, "reported")
