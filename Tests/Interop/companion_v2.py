#!/usr/bin/env python3
"""Signed objects of companion protocol v2, written a second time: what the Swift side is checked against.

    companion_v2.py sign    < {"kind": "command" | "session", "members": {...}, "seed"?: hex}
    companion_v2.py verify  < {"kind": ..., "publicKey": base64, "body": text}
    companion_v2.py pair    < {"secret": ..., "method": ..., "clientNonce": hex, ..., "deviceScalar": hex, "hostScalar": hex}

`sign` makes a key pair, or takes the one of a seed of 32 bytes, fills in `deviceId` and answers {"publicKey": base64, "body": text}. The body is spelled as unlike the
canonical form as JSON allows. `verify` answers {"valid": bool}. `pair` works out a whole exchange from both sides' secrets and
answers with shares and tags in hex. It is slow and not in constant time: for tests alone.

Needs nothing but the standard library and, for `sign` and `verify`, `cryptography` (Debian: python3-cryptography).
"""

import base64
import hashlib
import hmac
import json
import sys

PREFIXES = {"command": b"copilotforge-command-v2\n", "session": b"copilotforge-session-v2\n"}


def canonical(value):
    """RFC 8785, for strings, integers, words, arrays and objects."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, float):
        raise ValueError("a number with a fraction")
    return json.dumps(value, ensure_ascii=False).encode()


def strict(pairs):
    """The members of an object, none of them twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name stands twice")
    return members


def signed_bytes(kind, members):
    return PREFIXES[kind] + canonical({name: value for name, value in members.items() if name != "signature"})


def sign(request):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    seed = request.get("seed")
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)) if seed else Ed25519PrivateKey.generate()
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    public_key = base64.b64encode(raw).decode()
    members = dict(request["members"])
    members.setdefault("deviceId", hashlib.sha256(public_key.encode()).hexdigest()[:16])
    members["signature"] = base64.b64encode(key.sign(signed_bytes(request["kind"], members))).decode()
    spelled = dict(sorted(members.items(), reverse=True))
    return {"publicKey": public_key, "body": json.dumps(spelled, ensure_ascii=True, indent=3)}


def verify(request):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        members = json.loads(request["body"], object_pairs_hook=strict)
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(request["publicKey"], validate=True))
        signature = base64.b64decode(members["signature"], validate=True)
        key.verify(signature, signed_bytes(request["kind"], members))
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return {"valid": False}
    return {"valid": True}


# ristretto255 (RFC 9496) with points of edwards25519 in extended coordinates (X, Y, Z, T).

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)
ONE_MINUS_D_SQUARED = (1 - D * D) % P
D_MINUS_ONE_SQUARED = (D - 1) ** 2 % P


def odd(number):
    return number % P & 1


def magnitude(number):
    return -number % P if odd(number) else number % P


def root_of_ratio(u, v):
    """RFC 9496, 4.2: whether u/v is a square, and the root of it or of ROOT times it."""
    root = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    check = v * root * root % P
    correct, flipped, flipped_i = check == u % P, check == -u % P, check == -u * ROOT % P
    if flipped or flipped_i:
        root = root * ROOT % P
    return correct or flipped, magnitude(root)


INVERSE_ROOT_A_MINUS_D = root_of_ratio(1, (-1 - D) % P)[1]
# The root of a·d - 1 that RFC 9496 prints in section 4.1; it is the odd one of the two.
ROOT_AD_MINUS_ONE = -root_of_ratio(-D - 1, 1)[1] % P


def add(p, q):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    c, d = 2 * t1 * t2 * D, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def decode(data):
    """RFC 9496, 4.3.1."""
    s = int.from_bytes(data, "little")
    if len(data) != 32 or s >= P or odd(s):
        raise ValueError("no point")
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    v = (-(D * u1 * u1) - u2 * u2) % P
    square, inverse = root_of_ratio(1, v * u2 * u2 % P)
    den_x = inverse * u2 % P
    den_y = inverse * den_x * v % P
    x = magnitude(2 * s * den_x)
    y = u1 * den_y % P
    t = x * y % P
    if not square or odd(t) or y == 0:
        raise ValueError("no point")
    return x, y, 1, t


def encode(point):
    """RFC 9496, 4.3.2."""
    x0, y0, z0, t0 = point
    u1, u2 = (z0 + y0) * (z0 - y0) % P, x0 * y0 % P
    inverse = root_of_ratio(1, u1 * u2 * u2 % P)[1]
    den1, den2 = inverse * u1 % P, inverse * u2 % P
    z_inverse = den1 * den2 * t0 % P
    if odd(t0 * z_inverse):
        x, y, den = y0 * ROOT % P, x0 * ROOT % P, den1 * INVERSE_ROOT_A_MINUS_D % P
    else:
        x, y, den = x0, y0, den2
    if odd(x * z_inverse):
        y = -y
    return magnitude(den * (z0 - y)).to_bytes(32, "little")


def from_hash(data):
    """RFC 9496, 4.3.4."""

    def half(data):
        t = int.from_bytes(data, "little") % 2**255
        r = ROOT * t * t % P
        u = (r + 1) * ONE_MINUS_D_SQUARED % P
        v = (-1 - r * D) * (r + D) % P
        square, s = root_of_ratio(u, v)
        c = -1
        if not square:
            s, c = -magnitude(s * t) % P, r
        n = (c * (r - 1) * D_MINUS_ONE_SQUARED - v) % P
        w0, w1 = 2 * s * v % P, n * ROOT_AD_MINUS_ONE % P
        w2, w3 = (1 - s * s) % P, (1 + s * s) % P
        return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P

    return add(half(data[:32]), half(data[32:]))


def length(count):
    """Unsigned LEB128."""
    output = b""
    while count >= 128:
        output, count = output + bytes([count & 127 | 128]), count >> 7
    return output + bytes([count])


def lv_cat(*parts):
    parts = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"".join(length(len(part)) + part for part in parts)


def pair(request):
    prs = (request["method"] + ":" + request["secret"]).encode()
    sid = bytes.fromhex(request["clientNonce"]) + bytes.fromhex(request["hostNonce"])
    ci = lv_cat("copilotforge-pair-v2", bytes.fromhex(request["spki"]), request["hostId"])
    ada = lv_cat(
        "device", request["method"], request["devicePublicKey"], request["deviceName"], ",".join(request["permissions"])
    )
    adb = lv_cat("host", request["hostPublicKey"], request["hostName"])
    dsi = "CPaceRistretto255"
    padding = bytes(max(0, 127 - len(lv_cat(prs)) - len(lv_cat(dsi))))
    generator = from_hash(hashlib.sha512(lv_cat(dsi, prs, padding, ci, sid)).digest())
    a, b = (int.from_bytes(bytes.fromhex(request[name]), "little") for name in ("deviceScalar", "hostScalar"))
    ya, yb = encode(multiply(a, generator)), encode(multiply(b, generator))
    key = encode(multiply(a, decode(yb)))
    isk = hashlib.sha512(lv_cat("CPaceRistretto255_ISK", sid, key) + lv_cat(ya, ada) + lv_cat(yb, adb)).digest()
    mac_key = hashlib.sha512(b"CPaceMac" + sid + isk).digest()
    values = {
        "deviceShare": ya,
        "hostShare": yb,
        "deviceTag": hmac.new(mac_key, lv_cat(ya, ada), "sha512").digest(),
        "hostTag": hmac.new(mac_key, lv_cat(yb, adb), "sha512").digest(),
    }
    return {name: value.hex() for name, value in values.items()}


if __name__ == "__main__":
    commands = {"sign": sign, "verify": verify, "pair": pair}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    json.dump(commands[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
