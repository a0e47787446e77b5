# SPDX-License-Identifier: MIT
"""A picture with few colours is the same in a palette; of many colours the rare become their nearest."""

import random
import struct
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from small_png import SIGNATURE, chunk, chunks, paeth, small  # noqa: E402

WIDTH, HEIGHT = 40, 30


def filtered(kind, row, above, size):
    """As an encoder does it: each byte less what its filter foretells."""
    out = bytearray([kind])
    for x, value in enumerate(row):
        a, b, c = (row[x - size], above[x], above[x - size]) if x >= size else (0, above[x], 0)
        out.append((value - (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255)
    return bytes(out)


def png(rows, size):
    raw, above = b"", bytes(WIDTH * size)
    for y, row in enumerate(rows):
        raw += filtered(y % 5, row, above, size)
        above = row
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2 if size == 3 else 6, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def shown(data):
    """The colours of a picture with a palette."""
    parts = dict(chunks(data))
    raw = zlib.decompress(parts[b"IDAT"])
    return [parts[b"PLTE"][3 * n:3 * n + 3] for y in range(HEIGHT) for n in raw[y * (WIDTH + 1) + 1:(y + 1) * (WIDTH + 1)]]


@pytest.mark.parametrize("size", [3, 4])
def test_few_colours_are_the_same(size):
    chance = random.Random(size)
    colours = [bytes(chance.randrange(256) for _ in range(3)) for _ in range(200)]
    pixels = [chance.choice(colours) for _ in range(WIDTH * HEIGHT)]
    rows = [b"".join(one + b"\xff" * (size - 3) for one in pixels[y * WIDTH:(y + 1) * WIDTH]) for y in range(HEIGHT)]
    assert shown(small(png(rows, size))) == pixels


def test_a_rare_colour_becomes_its_nearest():
    pixels = [bytes((n, n, n)) for n in range(0, 256, 2) for _ in range(9)][:WIDTH * HEIGHT - 200] + [bytes((1, 2, n % 200)) for n in range(200)]
    rows = [b"".join(pixels[y * WIDTH:(y + 1) * WIDTH]) for y in range(HEIGHT)]
    got = shown(small(png(rows, 3)))
    assert len(set(got)) == 256 < len(set(pixels))
    assert all(a == b for a, b in zip(got, pixels) if pixels.count(b) > 1)
