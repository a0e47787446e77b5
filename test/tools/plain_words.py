# SPDX-License-Identifier: MIT
"""Phrases that readers had to read twice, and what is plainer: in pages (test_links.py) and in messages (check_source.py).

A message is a text in code that a user, a client or an administrator reads: of an error, a log line, help, a setting; in the
Python package also what help() shows."""
import re

UNCLEAR = {
    r"told|tells?": "print, show, report",
    r"goes on|go on": "continue",
    r"as ever": "as usual",
    r"anew": "again",
    r"likewise": "say it",
    r"[Ww]hoever": "everybody who",
    r"becomes? of|became of": "history",
    r"so many": "a number",
    r"(?<=[.] )(?:What|Who)": "a noun",
    r"will do": "suitable",
    r"besides one": "except",
    r"had not to": "does not have to",
}
# Pages may still use these.
UNCLEAR_IN_MESSAGES = {
    r"(?<!there )(?<!There )(?:is|are|was) no(?:ne)?(?! (?:longer|more)\b)": "is not a valid X, is not available",
    r"cannot be had": "is not available",
    r"none that": "no X that",
    r"(?:that|those) of": "the noun once more",
    r"besides": "in addition to",
    r"goes (?:with|along)|go with": "can be combined with, belongs to",
    r"of no use": "cannot be used",
    r"held up": "delayed",
}
FOR_PAGES = [(re.compile(rf"\b(?:{unclear})\b"), better) for unclear, better in UNCLEAR.items()]
FOR_MESSAGES = [(re.compile(rf"\b(?:{unclear})\b"), better)
                for unclear, better in {**UNCLEAR, **UNCLEAR_IN_MESSAGES}.items()]  # fmt: skip


def unclear(text, table):
    """(phrase, what is plainer) of each."""
    return [(m[0], better) for phrase, better in table for m in phrase.finditer(text)]
