# SPDX-License-Identifier: MIT
"""Pages of metrics as a scraper reads them: with the parsers of Prometheus, not with ours."""
import shutil
import subprocess

import pytest

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def page(d, path="/metrics", accept=None, **more):
    return d.call("GET", path, api_version=None, headers={"Accept": accept}, expect=more.pop("expect", 200), **more)


def samples(text, strict=False):
    """{(name, (label, value)...): number}, by Prometheus' parser of the text format, or the strict one of OpenMetrics."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser" if strict else "prometheus_client.parser")
    found = [((s.name, *sorted(s.labels.items())), s.value) for f in parser.text_string_to_metric_families(text) for s in f.samples]
    assert len(dict(found)) == len(found), f"a series comes twice in {text}"
    return dict(found)


def of(d, name, path="/metrics", **labels):
    """The sample of a metric with these labels; None: there is none."""
    found = [v for key, v in samples(page(d, path).text).items() if key[0] == name and labels.items() <= dict(key[1:]).items()]
    assert len(found) <= 1, f"{name} {labels} is {found}"
    return found[0] if found else None


def lint(text):
    """What `promtool check metrics` says of a page in the text format; "": nothing."""
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("promtool is not here (Debian's prometheus)")
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr
