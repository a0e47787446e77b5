#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources clang-tidy and cppcheck have not seen as they are now.

    changed.py BUILD        prints the sources that changed since the commit in tidy_clean.txt, or that include a header
                            that did (by the .d files of BUILD); all of them where git does not know that commit.
                            A file whose comments alone changed is as it was.
    changed.py --record     writes HEAD into tidy_clean.txt: `make tidy` has found all of it clean
"""
import re
import subprocess
import sys
from pathlib import Path

import rooms

ROOT = Path(__file__).resolve().parents[2]
CLEAN = Path(__file__).with_name("tidy_clean.txt")
# Comments, and texts that may look like comments.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*[\"]""", re.S)
# Comments that clang-tidy and cppcheck read.
READ_BY_LINTS = re.compile("NOLINT|cppcheck-suppress")
# With other rules, all is to be looked at again.
RULES = {".clang-tidy", "test/tools/tidy.sh", "test/tools/cppcheck.h", "test/tools/cppcheck.supp"}


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def sources():
    tops = sorted({room.split("/")[0] for room in rooms.load()})
    return [str(file.relative_to(ROOT)) for top in tops for file in sorted((ROOT / top).rglob("*.c"))]


def code(text):
    """A C source without comments, and without lines that have nothing else. Of blanks only indentation counts, which
    clang-tidy reads."""
    kept = lambda m: m[0] if m[0][0] in "\"'" or READ_BY_LINTS.search(m[0]) else " "  # noqa: E731
    lines = (re.sub(r"(?<=\S)[ \t]+", " ", line).rstrip() for line in TOKEN.sub(kept, text).splitlines())
    return "\n".join(line for line in lines if line)


def same_code(commit, path):
    file = ROOT / path
    then = git("show", f"{commit}:{path}") if file.suffix in (".c", ".h") and file.exists() else None
    return then is not None and code("\n".join(then)) == code(file.read_text())


def since(commit):
    """The paths whose code differs from that of `commit`, those that git does not track yet too; None: git cannot say."""
    tracked = git("diff", "--name-only", commit, "--")
    others = git("ls-files", "--others", "--exclude-standard")
    if tracked is None or others is None:
        return None
    return {*others, *(path for path in tracked if not same_code(commit, path))}


def includes(build, source):
    """The files that `source` was compiled of last; none: it was not built."""
    made = ROOT / build / "obj" / Path(source).with_suffix(".d")
    return made.read_text().replace("\\\n", " ").split() if made.exists() else []


def changed(build):
    differ = since(CLEAN.read_text().strip())
    if differ is None or differ & RULES:
        return sources()
    return [source for source in sources() if source in differ or not differ.isdisjoint(includes(build, source))]


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        CLEAN.write_text(git("rev-parse", "HEAD")[0] + "\n")
    elif len(sys.argv) == 2:
        print("\n".join(changed(sys.argv[1])))
    else:
        sys.exit(__doc__)
