"""Counts how many pictures of a public collection are read: `scripts/bench qr-public DIR`.

DIR has a folder of pictures for each kind, as `qrcodes/detection` of BoofCV's benchmark has (536 pictures of 16 kinds,
https://boofcv.org/notwiki/regression/fiducial/qrcodes_v3.zip; its terms of use are not stated, so it is no part of this repository).
A picture counts as read if at least one code in it is; what the codes say is not in the collection. The last row is the mean of the
kinds' shares, so that each kind counts the same.

Run by itself, with the corpus' own Python, it is the zxing-cpp side: it is given paths, and prints a line of JSON for each.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path

PICTURES = {".jpg", ".jpeg", ".png", ".webp"}


def pictures(folder: Path) -> dict[str, list[Path]]:
    """The pictures of each kind."""
    kinds = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in PICTURES:
            kinds.setdefault(str(path.parent.relative_to(folder)), []).append(path)
    return kinds


def public(folder: Path, row) -> None:
    from bench_corpus import PYTHON, ROOT, TOOL, run

    kinds = pictures(folder)
    if not kinds:
        raise SystemExit(f"{folder} has no pictures (JPEG, PNG or WebP)")
    subprocess.run([ROOT / "scripts/make-corpus", "--environment"], check=True)
    shares = {"pairtool": [], "zxing-cpp": [], "zbarimg": []}
    for kind, paths in kinds.items():
        print(f"  {kind}: {len(paths)} pictures", file=sys.stderr)
        answers = run([str(PYTHON), __file__, *map(str, paths)])[0].splitlines()
        if len(answers) != len(paths):
            raise SystemExit(f"zxing-cpp answered for {len(answers)} of {len(paths)} pictures")
        read = {
            "pairtool": sum(bool(run([str(TOOL), "scan", "-q", str(path)])[0]) for path in paths),
            "zxing-cpp": sum(map(json.loads, answers)),
            "zbarimg": sum(bool(run(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", str(path)])[0]) for path in paths),
        }
        for name, count in read.items():
            shares[name].append(count / len(paths))
        row(f"qr-public: {kind}", f"{read['pairtool']} of {len(paths)}", f"zxing-cpp {read['zxing-cpp']}, zbarimg {read['zbarimg']}",
            read["pairtool"] / max(read["zxing-cpp"], 1), "reported")
    ours, zxing, zbar = (statistics.mean(shares[name]) for name in ("pairtool", "zxing-cpp", "zbarimg"))
    row("qr-public: mean share of the kinds", f"{ours:.3f}", f"zxing-cpp {zxing:.3f}, zbarimg {zbar:.3f}", ours / zxing if zxing else None,
        "> 1.00", ours > zxing)


def zxing(paths: list[str]) -> None:
    import numpy
    import zxingcpp
    from PIL import Image

    for path in paths:
        pixels = numpy.asarray(Image.open(path).convert("L"))
        print(json.dumps(bool(zxingcpp.read_barcodes(pixels, formats=zxingcpp.BarcodeFormat.QRCode))))


if __name__ == "__main__":
    zxing(sys.argv[1:])
