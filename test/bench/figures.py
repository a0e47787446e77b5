# SPDX-License-Identifier: MIT
"""A figure: its samples, what is aimed at, and what it is held against; and how they are printed."""

from dataclasses import dataclass, field
from statistics import median


def percentile(samples, percent):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, round(percent / 100 * (len(ordered) - 1)))]


@dataclass
class Figure:
    name: str
    unit: str
    samples: list
    aim: float = None  # None: a peer or a detail, nothing is aimed at
    more_is_better: bool = False
    against: dict = field(default_factory=dict)  # peer -> its samples, in the same unit
    note: str = ""

    @property
    def value(self):
        return median(self.samples)

    @property
    def met(self):
        if self.aim is None:
            return None
        return self.value >= self.aim if self.more_is_better else self.value <= self.aim

    def ratios(self):
        """peer -> (median of the peer, this figure as a multiple of it)."""
        return {
            peer: (median(samples), self.value / median(samples)) for peer, samples in self.against.items()
        }

    def as_json(self):
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.value,
            "min": min(self.samples),
            "max": max(self.samples),
            "rounds": len(self.samples),
            "aim": self.aim,
            "met": self.met,
            "against": {p: {"median": m, "ratio": r} for p, (m, r) in self.ratios().items()},
            "note": self.note,
        }

    def as_row(self):
        sign = ">=" if self.more_is_better else "<="
        held = [f"{r:.2f} x {peer} ({short(m)})" for peer, (m, r) in self.ratios().items()]
        return [
            self.name,
            short(self.value),
            self.unit,
            f"{short(min(self.samples))}..{short(max(self.samples))}" if len(self.samples) > 1 else "",
            "" if self.aim is None else f"{sign} {short(self.aim)}",
            {None: "", True: "met", False: "MISSED"}[self.met],
            "; ".join(held + [self.note] * bool(self.note)),
        ]


def short(number):
    """Three digits that count."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


HEAD = ["figure", "median", "unit", "range", "aim", "", "against, notes"]
RIGHT = {1, 3, 4}  # columns of numbers


def table(figures):
    rows = [HEAD] + [f.as_row() for f in figures]
    width = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]

    def line(row):
        cells = [c.rjust(width[i]) if i in RIGHT else c.ljust(width[i]) for i, c in enumerate(row)]
        return "  ".join(cells).rstrip()

    return "\n".join([line(HEAD), "  ".join("-" * w for w in width)] + [line(r) for r in rows[1:]])
