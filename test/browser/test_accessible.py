# SPDX-License-Identifier: MIT
"""axe-core's rules on each view, light and dark: no finding that is serious."""

import pytest
from support.packages import Unavailable, install

VIEWS = ("overview", "queue", "jobs", "machines", "use", "batch", "batch/pools", "storage", "people", "job/lab/work/exp/well",
         "job/lab/work/exp/well/logs", "job/lab/work/exp/well/files", "job/lab/work/exp/well/use")
RUN = "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html)])))"


@pytest.fixture(scope="module")
def axe():
    try:
        home = install("axe-core", ["npm", "install", "--no-audit", "--no-fund", "axe-core@4.10.2"])
    except Unavailable as e:
        pytest.skip(str(e))
    return (home / "node_modules/axe-core/axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_breaks_no_serious_rule(page, axe, view, scheme):
    page.prefer(prefers_color_scheme=scheme)
    page.open(f"#/{view}").see("The same as a command:")
    page.driver.execute_script(axe)
    found = [v for v in page.driver.execute_async_script(RUN) if v[0] in ("serious", "critical")]
    page.prefer(prefers_color_scheme="light")
    assert not found, found
