"""Draws a small QR code in the formats that are read, for scripts/fuzz to change."""
import sys
from pathlib import Path

import segno
from PIL import Image

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
matrix = segno.make("seed", error="m", micro=False).matrix_iter(scale=3, border=4)
rows = [[0 if module else 255 for module in row] for row in matrix]
grey = Image.new("L", (len(rows[0]), len(rows)))
grey.putdata([shade for row in rows for shade in row])
alpha = Image.merge("RGBA", [grey, grey, grey, grey.point(lambda shade: 255 - shade)])
KINDS = {
    "grey.png": (grey, {}), "bits.png": (grey.convert("1"), {}), "palette.png": (grey.convert("P"), {"transparency": 255}),
    "alpha.png": (alpha, {}), "colour.png": (grey.convert("RGB"), {}),
    "baseline.jpg": (grey.convert("RGB"), {"quality": 80}), "progressive.jpg": (grey, {"progressive": True}),
    "inks.jpg": (grey.convert("CMYK"), {"quality": 80}),
    "lossy.webp": (grey.convert("RGB"), {"quality": 70}), "lossless.webp": (alpha, {"lossless": True}),
    "animated.webp": (grey.convert("RGB"), {"save_all": True, "append_images": [alpha.convert("RGB").rotate(90)]}),
}
for name, (image, options) in KINDS.items():
    image.save(folder / name, **options)
stream = "YUV4MPEG2 W{} H{} F30:1 C422\n".format(*grey.size).encode()
(folder / "frames.y4m").write_bytes(stream + 3 * (b"FRAME Ip\n" + grey.tobytes() + bytes((grey.width + 1) // 2 * grey.height * 2)))
(folder / "frames.mjpeg").write_bytes(3 * (folder / "baseline.jpg").read_bytes())
