# SPDX-License-Identifier: MIT
"""Command lines that stand within a sentence of a page of docs/."""

import re

from .daemon import ROOT


def inlines(name):
    """What stands between backquotes outside of blocks and tables."""
    text = re.sub(r"^(    |```|\|).*$", "", (ROOT / "docs" / name).read_text(), flags=re.M)
    return [re.sub(r"\s+", " ", found) for found in re.findall(r"`([^`]+)`", text)]


def inline(name, pattern):
    """The one that begins so."""
    (found,) = {line for line in inlines(name) if re.match(pattern, line)}
    return found
