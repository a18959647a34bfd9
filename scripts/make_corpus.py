#!/usr/bin/env python3
"""Draws pictures of pairing codes as people take them: photographs of screens and of paper, and screenshots.

Every picture has a grade from 1 (a careful picture) to 5 (what one would rather take again). The grade bounds how strong
each trouble may be; which troubles a picture has is drawn from the seed and the picture's number alone. `corpus.json`
says what each picture holds.
"""
import argparse
import io
import json
import math
import os
import string
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import segno
from PIL import Image, ImageDraw, ImageFilter

ROOT = Path(__file__).resolve().parent.parent
# Width, height, and how many of a hundred pictures have that size.
SIZES = [(640, 480, 20), (1280, 720, 22), (1600, 1200, 16), (1920, 1080, 18), (2592, 1944, 12), (4032, 3024, 12)]
TEXT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


def between(rng, low: float, high: float) -> float:
    return float(rng.uniform(low, high))


def chance(rng, share: float) -> bool:
    return bool(rng.random() < share)


def letters(rng, count: int, alphabet: str = TEXT) -> str:
    return "".join(alphabet[i] for i in rng.integers(0, len(alphabet), count))


def payload(rng, more: int = 0) -> str:
    """What a host shows: the fields of protocol 1, or those of protocol 2 as well, and a name of `more` letters."""
    fields = {
        "protocol": "copilotforge-pair-v1",
        "code": letters(rng, 6, "0123456789"),
        "token": letters(rng, 43),
        "expiresAt": "2099-12-31T23:59:59.000Z",
    }
    if chance(rng, 0.4):
        host, spki = letters(rng, 22), letters(rng, 43)
        # 32 bytes in base64url: the two lowest bits of the last letter stand for nothing, and are zero.
        spki = spki[:-1] + BASE64[BASE64.index(spki[-1]) & ~3]
        fields |= {"version": 2, "host": host, "spki": spki, "addr": "192.0.2.17", "port": 7879}
    if more:
        fields["name"] = letters(rng, more)
    return json.dumps(fields, separators=(",", ":"))


def foreign(rng) -> str:
    return ["https://example.org/", "WIFI:T:WPA;S:Example;P:", "tel:+1555"][rng.integers(0, 3)] + letters(rng, 12)


def small(rng) -> str:
    """What fits into the smallest symbols: versions 1 to 5."""
    return "https://e.org/" + letters(rng, int(rng.integers(0, 80)))


# --- Backgrounds ------------------------------------------------------------------------------------------------------


def clouds(rng, width: int, height: int, octaves: int = 5) -> np.ndarray:
    """Soft noise at several sizes, 0…1."""
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        cells = 2 ** (octave + 1)
        small = rng.random((max(2, cells * height // width), cells)).astype(np.float32)
        grown = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
        total += np.asarray(grown) / 1.6**octave
    total -= total.min()
    return total / max(float(total.max()), 1e-6)


def clutter(rng, width: int, height: int, amount: int) -> Image.Image:
    """A desk or a room: soft shades, and things with edges on them."""
    scene = Image.fromarray((40 + 180 * clouds(rng, width, height)).astype(np.uint8))
    draw = ImageDraw.Draw(scene)
    for _ in range(amount):
        x, y = between(rng, -0.1, 1) * width, between(rng, -0.1, 1) * height
        w, h = between(rng, 0.02, 0.3) * width, between(rng, 0.02, 0.3) * height
        shade = int(rng.integers(0, 256))
        kind = rng.integers(0, 6)
        if kind == 0:
            draw.rectangle((x, y, x + w, y + h), fill=shade, outline=int(rng.integers(0, 256)))
        elif kind == 1:
            draw.ellipse((x, y, x + w, y + h), fill=shade)
        elif kind == 2:
            draw.line((x, y, x + w, y + h), fill=shade, width=max(1, int(w / 30)))
        elif kind == 3:
            lines(rng, draw, x, y, w, h, shade)
        elif kind == 4:
            cells(rng, draw, x, y, w, shade)
        else:
            for ring in range(3):
                inset = ring * w / 7
                fill = shade if ring % 2 == 0 else 255 - shade
                draw.rectangle((x + inset, y + inset, x + w - inset, y + max(w - inset, inset)), fill=fill)
    return scene


def lines(rng, draw, x: float, y: float, w: float, h: float, shade: int) -> None:
    """A page or a window full of text."""
    draw.rectangle((x, y, x + w, y + h), fill=255 - shade)
    size = max(4, int(w / 40))
    for line in range(int(h / size / 2)):
        at = x + size
        while at < x + w - 2 * size:
            word = int(rng.integers(1, 9)) * size * 0.6
            draw.text((at, y + size + line * size * 2), letters(rng, max(1, int(word / size))), fill=shade)
            at += word + size


def cells(rng, draw, x: float, y: float, w: float, shade: int) -> None:
    """Tiles, a keyboard, another kind of code: squares in a grid."""
    count = int(rng.integers(4, 20))
    side = w / count
    for row in range(count):
        for column in range(count):
            if chance(rng, 0.5):
                left, top = x + column * side, y + row * side
                draw.rectangle((left, top, left + side * 0.95, top + side * 0.95), fill=shade)


# --- The card with the symbol -----------------------------------------------------------------------------------------


def card(symbol: np.ndarray, quiet: int, scale: int, dark: int, light: int, inverted: bool) -> np.ndarray:
    padded = np.pad(symbol, quiet)
    if inverted:
        dark, light = light, dark
    shades = np.where(padded, dark, light).astype(np.uint8)
    return np.kron(shades, np.ones((scale, scale), np.uint8))


def rounded(symbol: np.ndarray, quiet: int, scale: int, dark: int, light: int) -> np.ndarray:
    """Modules as dots, as some programs draw them; the finder patterns stay whole."""
    size = symbol.shape[0]
    whole = np.zeros_like(symbol)
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        whole[top : top + 7, left : left + 7] = True
    y, x = np.mgrid[0:scale, 0:scale] + 0.5 - scale / 2
    dot = (x * x + y * y <= (0.47 * scale) ** 2).astype(np.uint8)
    cover = np.kron(np.pad(symbol & whole, quiet), np.ones((scale, scale), np.uint8))
    cover = cover | np.kron(np.pad(symbol & ~whole, quiet), dot)
    return np.where(cover, dark, light).astype(np.uint8)


def projected(side: float, rotation: float, tilt: float, direction: float) -> np.ndarray:
    """The corners of a square that lies on a plane, as a camera sees it, around (0, 0); first top left, then clockwise."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float64) / 2
    c, s = math.cos(rotation), math.sin(rotation)
    corners = corners @ np.array([[c, s], [-s, c]])
    along = np.array([math.cos(direction), math.sin(direction)])
    across = np.array([-along[1], along[0]])
    a, b = corners @ along, corners @ across
    distance = 2.2
    depth = distance / (distance + a * math.sin(tilt))
    return side * (np.outer(a * math.cos(tilt) * depth, along) + np.outer(b * depth, across))


def coefficients(target: np.ndarray, source: np.ndarray) -> list[float]:
    """What Pillow wants for a perspective: from places in the result to places in the source."""
    rows, values = [], []
    for (x, y), (u, v) in zip(target, source):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        values += [u, v]
    return list(np.linalg.solve(np.array(rows), np.array(values)))


def paste(scene: np.ndarray, drawn: np.ndarray, corners: np.ndarray) -> None:
    """Lays a card into the scene. Twice the resolution within, so that edges are as soft as a lens makes them."""
    height, width = scene.shape
    low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 1, [width, height])
    box = high - low
    if (box < 2).any():
        return
    side = drawn.shape[0]
    square = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float64)
    numbers = coefficients((corners - low) * 2, square)
    size = (int(box[0]) * 2, int(box[1]) * 2)
    options = {"data": numbers, "resample": Image.Resampling.BILINEAR}
    picture = Image.fromarray(drawn).transform(size, Image.Transform.PERSPECTIVE, **options)
    cover = Image.fromarray(np.full_like(drawn, 255)).transform(size, Image.Transform.PERSPECTIVE, **options)
    small = lambda image: np.asarray(image.resize((int(box[0]), int(box[1])), Image.Resampling.BOX), np.float32)
    alpha = small(cover) / 255
    part = scene[low[1] : high[1], low[0] : high[0]]
    # Pixels outside the card are black in both, so the colour is already weighted.
    part[:] = part * (1 - alpha) + small(picture)


# --- Paper that does not lie flat -------------------------------------------------------------------------------------


def bend(rng, hard: float):
    """How a card is bent: its name, and a function from places of the flat picture of it to places on it, from -0.5 to
    0.5 in both directions."""
    kind = ["cylinder", "wave", "fold", "corner", "bilinear", "barrel"][rng.integers(0, 6)]
    angle = between(rng, 0, math.pi)
    c, s = math.cos(angle), math.sin(angle)
    amount = between(rng, 0.3, 0.6 + 0.4 * hard)
    phase, waves = between(rng, 0, 2 * math.pi), between(rng, 3, 8)
    place, slopes = between(rng, -0.2, 0.2), rng.normal(0, 0.1, 4)

    def turned(along, across):
        return along * c - across * s, along * s + across * c

    def cylinder(x, y):
        radius = 0.62 / amount
        along, across = x * c + y * s, y * c - x * s
        around = np.arcsin(np.clip(along / radius, -0.99, 0.99))
        return turned(radius * around, across * (1 - 0.2 * (1 - np.cos(around))))

    def wave(x, y):
        along, across = x * c + y * s, y * c - x * s
        height = amount * 0.12 / waves
        return turned(along + height * np.sin(waves * along + phase), across + height * np.sin(waves * along + phase * 2))

    def fold(x, y):
        along, across = x * c + y * s, y * c - x * s
        beyond = np.maximum(along - place, 0)
        return turned(along + 0.25 * amount * beyond, across + 0.25 * amount * beyond)

    def corner(x, y):
        beyond = np.maximum(x + y - 0.55 - place / 2, 0)
        return x + 0.5 * amount * beyond, y + 0.5 * amount * beyond

    def bilinear(x, y):
        a, b, d, e = slopes * amount
        return x + a * x * y + b * y * y, y + d * x * y + e * x * x

    def barrel(x, y):
        swell = 1 + (0.3 if place > -0.1 else -0.2) * amount * (x * x + y * y)
        return x * swell, y * swell

    return kind, locals()[kind]


def paste_bent(scene: np.ndarray, drawn: np.ndarray, corners: np.ndarray, bent) -> None:
    """Lays a bent card into the scene; `bent` says which place on the card is seen."""
    height, width = scene.shape
    # A bend may reach beyond the corners of the flat card.
    reach = (corners.max(axis=0) - corners.min(axis=0)) * 0.1
    low = np.maximum(np.floor(corners.min(axis=0) - reach).astype(int), 0)
    high = np.minimum(np.ceil(corners.max(axis=0) + reach).astype(int), [width, height])
    if (high - low < 2).any():
        return
    square = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    a, b, c, d, e, f, g, h = coefficients(corners, square)
    side = drawn.shape[0]
    # As many looks a pixel in each direction; row by row, for the largest pictures are larger than memory.
    looks = 2
    columns = low[0] + (np.arange((high[0] - low[0]) * looks) + 0.5) / looks
    for top in range(low[1], high[1], 64):
        rows = np.arange(top * looks, min(top + 64, high[1]) * looks)[:, None] / looks + 0.5 / looks
        depth = g * columns + h * rows + 1
        u, v = bent((a * columns + b * rows + c) / depth, (d * columns + e * rows + f) / depth)
        inside = (np.abs(u) < 0.5) & (np.abs(v) < 0.5)
        x, y = np.clip((u + 0.5) * side, 0, side - 1).astype(int), np.clip((v + 0.5) * side, 0, side - 1).astype(int)
        shape = (len(rows) // looks, looks, len(columns) // looks, looks)
        alpha = inside.reshape(shape).mean(axis=(1, 3))
        light = (drawn[y, x] * inside).reshape(shape).mean(axis=(1, 3))
        part = scene[top : top + shape[0], low[0] : high[0]]
        part[:] = part * (1 - alpha) + light


# --- Troubles ---------------------------------------------------------------------------------------------------------


def blurred(scene: np.ndarray, radius: float) -> np.ndarray:
    image = Image.fromarray(np.clip(scene, 0, 255).astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(radius)), np.float32)


def shaken(scene: np.ndarray, length: float, angle: float) -> np.ndarray:
    """A hand that moved while the picture was taken."""
    steps = max(2, int(math.ceil(length)) + 1)
    total = np.zeros_like(scene)
    for step in np.linspace(-0.5, 0.5, steps):
        dx, dy = step * length * math.cos(angle), step * length * math.sin(angle)
        total += np.roll(scene, (round(dy), round(dx)), (0, 1))
    return total / steps


def glared(rng, scene: np.ndarray, centre: np.ndarray, side: float, strength: float) -> np.ndarray:
    """A lamp's reflection on or beside the symbol."""
    height, width = scene.shape
    angle, away = between(rng, 0, 2 * math.pi), between(rng, 0.25, 0.7) * side
    x, y = centre[0] + away * math.cos(angle), centre[1] + away * math.sin(angle)
    rows, columns = np.ogrid[0:height, 0:width]
    spread = between(rng, 0.15, 0.45) * side
    light = np.exp(-(((columns - x) / spread) ** 2 + ((rows - y) / (spread * between(rng, 0.5, 1.5))) ** 2))
    return scene + (strength * light).astype(np.float32)


def lit(rng, scene: np.ndarray, strength: float) -> np.ndarray:
    """Light that falls off to one side, sometimes with the edge of a shadow."""
    height, width = scene.shape
    angle = between(rng, 0, 2 * math.pi)
    rows, columns = np.ogrid[0:height, 0:width]
    along = (columns / width - 0.5) * math.cos(angle) + (rows / height - 0.5) * math.sin(angle)
    if chance(rng, 0.4):
        along = np.tanh(along * between(rng, 8, 40)) * 0.5
    return scene * (1 - strength * (along + 0.5)).astype(np.float32)


def moire(rng, scene: np.ndarray, strength: float) -> np.ndarray:
    """The grid of a screen's pixels against the camera's: bands, and a fine pattern."""
    height, width = scene.shape
    rows, columns = np.ogrid[0:height, 0:width]
    result = scene
    for _ in range(2):
        angle, period = between(rng, 0, math.pi), between(rng, 2.1, 9)
        phase = (columns * math.cos(angle) + rows * math.sin(angle)) * 2 * math.pi / period
        result = result * (1 + strength * np.sin(phase)).astype(np.float32)
    return result


def camera(rng, scene: np.ndarray, hard: float) -> np.ndarray:
    """What a camera makes of light: a lens that is darker at its edge, noise that grows with light, colours that are
    guessed from neighbours, and a tone curve."""
    height, width = scene.shape
    rows, columns = np.ogrid[0:height, 0:width]
    away = ((columns / width - 0.5) ** 2 + (rows / height - 0.5) ** 2).astype(np.float32)
    scene = np.clip(scene, 0, 255) * (1 - between(rng, 0.1, 0.5 + 0.5 * hard) * away)
    grain = between(rng, 0.2, 0.5 + 0.8 * hard)
    scene = scene + rng.normal(0, 1, scene.shape).astype(np.float32) * grain * np.sqrt(np.maximum(scene, 4))
    # Two of four pixels are green and measure brightness; the others take it from them.
    guessed = (np.roll(scene, 1, 0) + np.roll(scene, -1, 0) + np.roll(scene, 1, 1) + np.roll(scene, -1, 1)) / 4
    other = (rows + columns) % 2 == 1
    scene = np.where(other, 0.3 * scene + 0.7 * guessed, scene)
    light = np.clip(scene / 255, 0, 1)
    contrast = between(rng, 0, 0.6)
    light = light ** between(rng, 0.7, 1.4)
    return (255 * (light * (1 - contrast) + contrast * light * light * (3 - 2 * light))).astype(np.float32)


# --- A picture --------------------------------------------------------------------------------------------------------


def make(seed: int, number: int, folder: Path) -> dict:
    rng = np.random.default_rng([seed, number])
    # From 1 to 5 in turn; `hard` goes from 0 to 1.
    grade = number % 5 + 1
    hard = (grade - 1) / 4
    weights = np.array([share for _, _, share in SIZES], np.float64)
    width, height, _ = SIZES[rng.choice(len(SIZES), p=weights / weights.sum())]
    if chance(rng, 0.3):
        width, height = height, width
    troubles: list[str] = []
    versions: list[int] = []

    def has(name: str, share: float) -> bool:
        """Whether the picture has a trouble; the share is that of the hardest grade."""
        found = chance(rng, share * (0.25 + 0.75 * hard))
        if found:
            troubles.append(name)
        return found

    # Where is no symbol, nothing may be read.
    kind = "none" if number % 25 == 24 else "foreign" if number % 25 == 12 else "ours"
    more = int(rng.integers(20, 560)) if chance(rng, 0.3) else 0
    # The smallest symbols are others' codes.
    ours = small(rng) if number % 7 == 3 else payload(rng, more)
    texts = [] if kind == "none" else [ours] if kind == "ours" else [ours, foreign(rng)]
    amount = int(between(rng, 5, 20) + 60 * hard) if has("clutter", 0.9) else int(rng.integers(0, 4))
    scene = np.asarray(clutter(rng, width, height, amount), np.float32).copy()

    light, dark = int(between(rng, 200, 250)), int(between(rng, 5, 50))
    if has("low contrast", 0.35):
        middle, reach = between(rng, 70, 180), between(rng, 45 - 25 * hard, 60 - 20 * hard)
        light, dark = int(middle + reach), int(middle - reach)
    inverted = has("inverted", 0.2)
    dotted = not inverted and has("dots", 0.1)
    rotates, tilts = has("rotation", 0.9), has("perspective", 0.7)
    module = between(rng, 5.5 - 3.2 * hard, 11 - 5 * hard)
    bent = None
    if chance(rng, 0.45):
        name, bent = bend(rng, hard)
        troubles.append(name)
    centre, side = np.array([width / 2, height / 2]), 0.0
    for index, text in enumerate(texts):
        level = "LMQH"[rng.choice(4, p=[0.2, 0.5, 0.15, 0.15])]
        symbol = np.array(segno.make(text, error=level, boost_error=False, micro=False).matrix, bool)
        quiet = 4 if grade < 3 or chance(rng, 0.6) else int(rng.integers(1, 4))
        count = symbol.shape[0] + 2 * quiet
        most = min(width, height) * (0.92 if len(texts) == 1 else 0.46)
        # Photographs have more pixels a module, up to a picture filled.
        size = min(most, count * module * between(rng, 1, 1 + 0.7 * max(width, height) / 2000))
        # What is tilted or turned reaches further than its side.
        rotation = between(rng, -math.pi, math.pi) if rotates else between(rng, -0.05, 0.05)
        tilt = between(rng, 0.2, 0.45 + 0.5 * hard) if tilts else 0.0
        corners = projected(size, rotation, tilt, between(rng, 0, 2 * math.pi))
        reach = corners.max(axis=0) - corners.min(axis=0)
        corners *= min(1.0, float((np.array([width, height]) * (0.96, 0.96) / (reach * (1 if len(texts) == 1 else 2))).min()))
        low, high = -corners.min(axis=0) + 1, np.array([width, height]) - corners.max(axis=0) - 1
        if len(texts) == 2:
            axis = 0 if width > height else 1
            half = [width, height][axis] / 2
            low[axis], high[axis] = (low[axis], half - corners.max(axis=0)[axis]) if index == 0 else (half - corners.min(axis=0)[axis], high[axis])
        at = np.array([between(rng, min(low[i], high[i]), max(low[i], high[i])) for i in (0, 1)])
        scale = int(min(max(4, math.ceil(size / count * 2)), 24))
        drawn = rounded(symbol, quiet, scale, dark, light) if dotted else card(symbol, quiet, scale, dark, light, inverted)
        paste(scene, drawn, corners + at) if bent is None else paste_bent(scene, drawn, corners + at, bent)
        versions.append((symbol.shape[0] - 17) // 4)
        if index == 0:
            centre, side = at, size
            edge = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).min() / count
    pixels = float(edge) if texts else 4.0

    if has("uneven light", 0.5):
        scene = lit(rng, scene, between(rng, 0.2, 0.4 + 0.4 * hard))
    if has("moiré", 0.3):
        scene = moire(rng, scene, between(rng, 0.03, 0.08 + 0.12 * hard))
    if has("glare", 0.3):
        scene = glared(rng, scene, centre, max(side, 100), between(rng, 40, 90 + 120 * hard))
    if has("blur", 0.7):
        scene = blurred(scene, pixels * between(rng, 0.1, 0.25 + 0.4 * hard))
    if has("shake", 0.25):
        scene = shaken(scene, pixels * between(rng, 0.2, 0.5 + 0.8 * hard), between(rng, 0, math.pi))
    if has("noise", 0.6):
        scene = scene + rng.normal(0, between(rng, 2, 8 + 20 * hard), scene.shape).astype(np.float32)

    if has("camera", 0.6):
        scene = camera(rng, scene, hard)
    image = Image.fromarray(np.clip(scene, 0, 255).astype(np.uint8))
    if has("saved twice", 0.3):
        # A chat program made it smaller on its way.
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=int(between(rng, 85 - 30 * hard, 90)))
        image = Image.open(buffer).convert("L")
    if chance(rng, 0.6):
        # Warm or cold light: a coloured picture of the same brightness or nearly so.
        tint = [between(rng, 0.92, 1.0) for _ in range(3)]
        image = Image.merge("RGB", [image.point(lambda v, t=t: int(v * t)) for t in tint])
    is_png = chance(rng, 0.25) and max(width, height) <= 1920
    name = f"{number:04}.{'png' if is_png else 'jpg'}"
    buffer = io.BytesIO()
    if is_png:
        image.save(buffer, "PNG", compress_level=3)
    else:
        image.save(buffer, "JPEG", quality=int(between(rng, 95 - 45 * hard, 95)))
    (folder / name).write_bytes(buffer.getvalue())
    return {
        "file": name, "grade": grade, "width": width, "height": height, "payload": texts[0] if texts else None,
        "foreign": texts[1:], "versions": versions, "modulePixels": round(pixels, 2), "troubles": troubles,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".build/corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("[0-9]*.*"):
        old.unlink()
    with ProcessPoolExecutor() as pool:
        made = list(pool.map(make, [options.seed] * options.count, range(options.count), [folder] * options.count))
    (folder / "corpus.json").write_text(json.dumps({"seed": options.seed, "pictures": made}, indent=1))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(made)} pictures, {size / 1e6:.0f} MB, in {os.path.relpath(folder)}", file=sys.stderr)


if __name__ == "__main__":
    main()
