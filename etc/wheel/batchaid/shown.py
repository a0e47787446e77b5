# SPDX-License-Identifier: MIT
"""Text and tables for people: whatever a job or its owner has written is shown, and does nothing."""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional, TypeVar, Union

# Control characters but tab and end of line; marks that turn the direction of text; halves of pairs, as surrogateescape makes.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ROWS_MAX = 500  # of a table in a notebook
LINE_MAX = 2000  # characters of a line of a log in a notebook


def visible(text: str) -> str:
    """With a number in place of each character that cannot be seen."""
    return UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256 else f"\\u{ord(found[0]):04x}", text)


def one_line(value: Any) -> str:
    """A cell of a table as text."""
    return visible("" if value is None else str(value)).replace("\n", "\\n").replace("\t", " ")


def plain(text: str) -> str:
    """A log's text without escape sequences."""
    return visible(ANSI.sub("", text))


def coloured(text: str) -> str:
    """A log's text for a terminal, which it may colour and do nothing else to."""
    parts = COLOUR.split(text)
    return "".join(a + b for a, b in zip([plain(part) for part in parts], [*COLOUR.findall(text), ""]))


def escaped(value: Any) -> str:
    """A cell of a table as HTML."""
    return html.escape(one_line(value))


def log_html(lines: Iterable[str], note: str = "") -> str:
    """Lines of a log as HTML."""
    shown = []
    for line in lines:
        text = plain(line)
        more = f"... ({len(text) - LINE_MAX:,} more characters)" if len(text) > LINE_MAX else ""
        shown.append(html.escape(text[:LINE_MAX] + more))
    head = f"<div><small>{html.escape(note)}</small></div>" if note else ""
    return head + '<pre style="white-space: pre-wrap; max-height: 30em; overflow: auto">' + "\n".join(shown) + "</pre>"


# --- amounts ------------------------------------------------------------------------------------


def time_of(text: Optional[str]) -> Optional[datetime.datetime]:
    """An instant of a reply, or None: with any number of digits, which older versions of Python do not read."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(?:Z|\+00:00)", text or "")
    if not match:
        return None
    whole = datetime.datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S")
    return whole.replace(microsecond=int((match[2] or "0").ljust(6, "0")), tzinfo=datetime.timezone.utc)


def now() -> datetime.datetime:
    """The present instant."""
    return datetime.datetime.now(datetime.timezone.utc)


def local(instant: Optional[datetime.datetime]) -> str:
    """For people, in the time zone of this computer."""
    return instant.astimezone().strftime("%Y-%m-%d %H:%M:%S") if instant else ""


def elapsed(span: Optional[datetime.timedelta]) -> str:
    """3:07, 1:02:03, 2d 1:02:03."""
    if span is None:
        return ""
    rest = max(0, int(span.total_seconds()))
    days, rest = divmod(rest, 86400)
    hours, rest = divmod(rest, 3600)
    clock = f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours or days else f"{rest // 60}:{rest % 60:02}"
    return f"{days}d {clock}" if days else clock


def bytes_text(n: int) -> str:
    """1.5 GB."""
    size = float(n)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


# --- tables -------------------------------------------------------------------------------------

Cell = Union[str, int, float, None]


class Column(NamedTuple):
    """The head of a column, and whether its cells are numbers."""

    head: str
    right: bool = False


def table_text(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> str:
    """For terminals; columns without any cell are left out."""
    all_rows = [[one_line(cell) for cell in row] for row in rows]
    kept = [i for i in range(len(columns)) if not all_rows or any(row[i] for row in all_rows)]
    widths = {i: max([len(columns[i].head), *(len(row[i]) for row in all_rows)]) for i in kept}
    lines = [[columns[i].head for i in kept], *([row[i] for i in kept] for row in all_rows)]
    return "\n".join(
        "  ".join(cell.rjust(widths[i]) if columns[i].right else cell.ljust(widths[i]) for i, cell in zip(kept, line)).rstrip()
        for line in lines
    )


def table_html(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], note: str = "") -> str:
    """For notebooks; columns without any cell are left out."""
    all_rows = list(rows)
    kept = [i for i in range(len(columns)) if not all_rows or any(row[i] not in (None, "") for row in all_rows)]

    def cells(kind: str, row: Sequence[Cell]) -> str:
        sides = ("right" if columns[i].right else "left" for i in kept)
        return "".join(f'<{kind} style="text-align: {side}">{escaped(row[i])}</{kind}>' for i, side in zip(kept, sides))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in all_rows[:ROWS_MAX])
    if len(all_rows) > ROWS_MAX:
        note = f"{len(all_rows) - ROWS_MAX:,} more rows are not shown here. {note}"
    foot = f"<div><small>{html.escape(note)}</small></div>" if note else ""
    return f"<table><thead><tr>{cells('th', [c.head for c in columns])}</tr></thead><tbody>{body}</tbody></table>{foot}"


T = TypeVar("T")


class Table(list[T]):
    """A list that shows itself as a table."""

    columns: Sequence[Column] = ()
    empty = "There is none."
    note = ""  # below the table

    def row(self, item: T) -> Sequence[Cell]:
        """The cells of one item."""
        raise NotImplementedError

    def __str__(self) -> str:
        if not self:
            return self.empty
        return "\n".join(filter(None, [table_text(self.columns, map(self.row, self)), self.note]))

    def _repr_html_(self) -> str:
        return table_html(self.columns, map(self.row, self), self.note if self else self.empty)
