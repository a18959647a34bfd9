"""Measures scanning on the pictures of scripts/make-corpus, beside zbarimg and zxing-cpp.

`bench.py` calls `corpus`. Run by itself, with the corpus' own Python, it is the zxing-cpp side: one line a picture.
"""
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".build/corpus"
PYTHON = ROOT / ".build/corpus-venv/bin/python"
TOOL = ROOT / ".build/release/pairtool"
# What makes another corpus: the files that draw it.
SOURCES = [ROOT / "scripts/make_corpus.py", ROOT / "scripts/make-corpus"]


def draw() -> list[dict]:
    listing = FOLDER / "corpus.json"
    if not listing.exists() or any(listing.stat().st_mtime < source.stat().st_mtime for source in SOURCES):
        subprocess.run([ROOT / "scripts/make-corpus", FOLDER], check=True)
    return json.loads(listing.read_text())["pictures"]


def run(command: list[str]) -> tuple[str, float]:
    start = time.perf_counter()
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.stdout.decode(errors="replace"), time.perf_counter() - start


def ours(path: Path) -> tuple[set[str], float]:
    """The codes of the pairing payloads that were found, and what else was, as their kinds."""
    text, taken = run([str(TOOL), "scan", "--json", "--show-secrets", str(path)])
    found = [json.loads(line) for line in text.splitlines()]
    return {one["code"] + one.get("token", "") if one["kind"] == "pairing" else one["kind"] for one in found}, taken


def zbarimg(path: Path, only_qr: bool) -> tuple[set[str], float]:
    text, taken = run(["zbarimg", "-q", "--raw", *(["-Sdisable", "-Sqrcode.enable"] if only_qr else []), str(path)])
    return set(text.splitlines()), taken


def corpus(_: Path, row) -> None:
    pictures = draw()
    zxing = dict(json.loads(line) for line in run([str(PYTHON), __file__])[0].splitlines())
    names = ("pairtool", "zbarimg", "zbarimg, QR only", "zxing-cpp")
    read, times, wrong = ({name: [] for name in names} for _ in range(3))
    grades = {name: [0] * 5 for name in names}
    for number, picture in enumerate(pictures):
        if number % 50 == 0:
            print(f"  {number} of {len(pictures)} pictures", file=sys.stderr)
        path = FOLDER / picture["file"]
        payload = picture["payload"]
        fields = json.loads(payload) if payload and payload.startswith("{") else None
        right = {payload, *picture["foreign"]}
        # Ours shows the fields: a payload of ours is right if code and token are, and one of others' is not ours.
        expected = {fields["code"] + fields["token"]} if fields else {"foreign"} if payload else set()
        results = {
            "pairtool": (*ours(path), expected, expected | ({"foreign"} if picture["foreign"] else set())),
            "zbarimg": (*zbarimg(path, False), {payload}, right),
            "zbarimg, QR only": (*zbarimg(path, True), {payload}, right),
            "zxing-cpp": (set(zxing[picture["file"]][0]), zxing[picture["file"]][1], {payload}, right),
        }
        for name, (found, taken, wanted, allowed) in results.items():
            times[name].append(taken)
            wrong[name] += found - allowed - {""}
            if payload and found & wanted:
                read[name].append(picture["file"])
                grades[name][picture["grade"] - 1] += 1
    report(pictures, read, times, wrong, grades, row)


def report(pictures, read, times, wrong, grades, row) -> None:
    whole = sum(picture["payload"] is not None for picture in pictures)
    share = lambda name: f"{len(read[name])} of {whole}"
    left = {name: whole - len(read[name]) for name in read}
    row("corpus: pictures read", share("pairtool"), f"zxing-cpp {share('zxing-cpp')}",
        len(read["pairtool"]) / len(read["zxing-cpp"]), "> 1.00", len(read["pairtool"]) > len(read["zxing-cpp"]))
    row("corpus: pictures left unread", str(left["pairtool"]), f"zbarimg {left['zbarimg']}",
        left["pairtool"] / left["zbarimg"], "≤ 0.50", left["pairtool"] <= left["zbarimg"] / 2)
    for grade in range(5):
        ours, zxing, zbar = (grades[name][grade] for name in ("pairtool", "zxing-cpp", "zbarimg"))
        there = sum(picture["payload"] is not None for picture in pictures if picture["grade"] == grade + 1)
        row(f"corpus: read of grade {grade + 1}", f"{ours} of {there}", f"zxing-cpp {zxing}, zbarimg {zbar}",
            ours / max(zxing, 1), "> 1.00, or all", ours > zxing or ours == there)
    total = {name: sum(times[name]) for name in times}
    row("corpus: time, one process each", f"{total['pairtool']:.1f} s", f"zbarimg {total['zbarimg']:.1f} s",
        total["pairtool"] / total["zbarimg"], "≤ 0.25", total["pairtool"] <= total["zbarimg"] / 4)
    row("corpus: the same beside QR alone", f"{total['pairtool']:.1f} s",
        f"zbarimg -Sdisable -Sqrcode.enable {total['zbarimg, QR only']:.1f} s",
        total["pairtool"] / total["zbarimg, QR only"], "reported")
    row("corpus: time within one process", "", f"zxing-cpp {total['zxing-cpp']:.1f} s", None, "reported")
    large = [index for index, picture in enumerate(pictures) if picture["width"] * picture["height"] > 12_000_000]
    mean = {name: statistics.mean(times[name][index] for index in large) for name in times}
    row("corpus: its 12-megapixel pictures", f"{mean['pairtool'] * 1000:.0f} ms",
        f"zbarimg {mean['zbarimg'] * 1000:.0f} ms", mean["pairtool"] / mean["zbarimg"], "reported")
    row("corpus: false payloads", str(len(wrong["pairtool"])),
        f"zbarimg {len(wrong['zbarimg'])}, zxing-cpp {len(wrong['zxing-cpp'])}", None, "0", not wrong["pairtool"])


def zxing() -> None:
    import numpy
    import zxingcpp
    from PIL import Image

    for picture in json.loads((FOLDER / "corpus.json").read_text())["pictures"]:
        start = time.perf_counter()
        pixels = numpy.asarray(Image.open(FOLDER / picture["file"]).convert("L"))
        found = zxingcpp.read_barcodes(pixels, formats=zxingcpp.BarcodeFormat.QRCode)
        print(json.dumps([picture["file"], [[one.text for one in found], time.perf_counter() - start]]))


if __name__ == "__main__":
    zxing()
