# SPDX-License-Identifier: MIT
"""docs/metrics.md has the metrics of the tables."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "tools"))
import metrics_docs  # noqa: E402


def test_the_page_is_not_stale():
    done = subprocess.run([ROOT / "test/tools/metrics_docs.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_samples_have_the_suffix_of_their_type():
    text = """{"made", METRIC_COUNTER,
     "Things that "
     "are \\"made\\".",
     show},
    {"age", METRIC_GAUGE, "How old.", age},"""
    assert list(metrics_docs.rows(text)) == [("made_total", "counter", 'Things that are "made".'), ("age", "gauge", "How old.")]
