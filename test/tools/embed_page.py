#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turns the files of the page into rows of C: {name, type, bytes unpacked, bytes, the bytes as gzip packs them}.

    embed_page.py FILE...    prints PAGE_HASH, the table `page_files[]`, and how many rows it has

All files but index.html are served below /page/HASH/, where HASH is made of all their bytes: a browser may keep them for
ever, and files of two releases are never mixed. index.html gets HASH in place of {HASH}, and in place of {MODULES} links to the
modules that it does not name: a browser loads them all at once, and not each after those that import it.
"""

import gzip
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}
# The limit for all files, compressed.
MOST = 100 * 1024


def row(number, name, data, packed):
    kind = TYPES[pathlib.Path(name).suffix]
    return f'    {{"{name}", "{kind}", {len(data)}, {len(packed)}, packed_{number}}},'


def shell(page, names):
    modules = (f'<link rel="modulepreload" href="/page/{{HASH}}/{name}">' for name in names if name.endswith(".js") and f"/{name}\"" not in page)
    return page.replace("{MODULES}", "\n".join(modules))


def main(*names):
    files = {pathlib.Path(name).name: pathlib.Path(name).read_bytes() for name in sorted(names)}
    mark = hashlib.sha256(b"".join(name.encode() + b"\0" + data + b"\0" for name, data in files.items())).hexdigest()[:16]
    files["index.html"] = shell(files["index.html"].decode(), files).replace("{HASH}", mark).encode()
    packed = {name: gzip.compress(data, 9, mtime=0) for name, data in files.items()}
    size = sum(map(len, packed.values()))
    if size > MOST:
        sys.exit(f"the files of the page have {size} bytes, compressed; at most {MOST} are right")
    for number, data in enumerate(packed.values()):
        print(f"static const unsigned char packed_{number}[] = {{{','.join(map(str, data))}}};")
    print(f'#define PAGE_HASH "{mark}"')
    print("static const struct page_file page_files[] = {")
    for number, (name, data) in enumerate(files.items()):
        print(row(number, name, data, packed[name]))
    print("};")


if __name__ == "__main__":
    main(*sys.argv[1:])
