#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints the database that all migrations make, as rows of a C table: {offset, length, bytes} for what is not zero.
The migrations are applied as storage/migrate.c does it.

    embed_image.py APPLICATION_ID SCHEMA_BASE migrations/NNNN_name.sql...
"""

import pathlib
import re
import sqlite3
import sys
import tempfile

# A gap of zeros that is longer begins a new row. A row has at most so many bytes, as a string of C has a limit.
GAP, ROW_MAX = 16, 4096
PIECES = re.compile(rb"[^\0](?:\0{0,%d}[^\0])*" % (GAP - 1), re.DOTALL)


def migrated(application_id, base, names, directory):
    """The bytes of the file, in the mode that has a write-ahead log."""
    path = f"{directory}/image.db"
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.execute("PRAGMA foreign_keys = OFF")
    for name in names:
        made.executescript(pathlib.Path(name).read_text("ascii"))
    made.execute(f"PRAGMA user_version = {base + len(names)}")
    made.execute(f"PRAGMA application_id = {application_id}")
    made.execute(f"VACUUM INTO '{path}'")
    made.close()
    image = sqlite3.connect(path)
    image.execute("PRAGMA journal_mode = WAL")
    image.close()
    return pathlib.Path(path).read_bytes()


def as_c(data):
    """Three digits for what is no letter, so that no digit behind it counts as one more."""
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in data)


def image_of(application_id, base, names):
    with tempfile.TemporaryDirectory() as directory:
        return migrated(int(application_id, 0), int(base), names, directory)


def main(application_id, base, *names):
    image = image_of(application_id, base, names)
    if image != image_of(application_id, base, names):
        sys.exit("the migrations do not make the same database each time; they may not use chance or the time")
    print(f"#define IMAGE_BYTES {len(image)}")
    print("static const struct image_piece image[] = {")
    for found in PIECES.finditer(image):
        for at in range(found.start(), found.end(), ROW_MAX):
            data = image[at : min(at + ROW_MAX, found.end())]
            print(f'{{{at}, {len(data)}, "{as_c(data)}"}},')
    print("};")


if __name__ == "__main__":
    main(*sys.argv[1:])
