# SPDX-License-Identifier: MIT
"""axe-core's rules on each view, light and dark: no finding that is serious."""

import pytest
from support.packages import Unavailable, install

# (address, what it shows.)
VIEWS = (("overview", "used"), ("queue", "long"), ("jobs", "well"), ("machines", "spare.rack"), ("machine/spare.rack", "spare.rack"), ("use", "GPU hours"),
         ("use?by=cluster", "rack"), ("batch", "job1"), ("batch/pools", "pool1"), ("tasks/{account}/job1", "task1"), ("job/{group}/{account}/job1/task1", "Exit code"),
         ("storage", "acct"), ("storage/acct/files/out", "1 file"), ("people", "Role"), ("job/lab/work/exp/well", "exit code 0"), ("job/lab/work/exp/well/logs", "trained"),
         ("job/lab/work/exp/well/files", "stdout.txt"), ("job/lab/work/exp/well/use", "Each part of a node"))
RUN = "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html)])))"


@pytest.fixture(scope="module")
def axe():
    try:
        home = install("axe-core", ["npm", "install", "--no-audit", "--no-fund", "axe-core@4.10.2"])
    except Unavailable as e:
        pytest.skip(str(e))
    return (home / "node_modules/axe-core/axe.min.js").read_text()


def broken_rules(browser, axe, scheme):
    """What axe-core finds that is serious."""
    browser.prefer(prefers_color_scheme=scheme)
    browser.driver.execute_script(axe)
    found = browser.driver.execute_async_script(RUN)
    browser.prefer(prefers_color_scheme="light")
    return [v for v in found if v[0] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view, fact", VIEWS)
def test_a_view_breaks_no_serious_rule(page, batch, axe, view, fact, scheme):
    address = view.format(account=batch.name, group=batch.accounts.group)
    page.open(f"#/{address}").see("The same as a command:", fact)
    assert not broken_rules(page, axe, scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_login_breaks_no_serious_rule(browser, axe, scheme):
    browser.open().see("Password")
    assert not broken_rules(browser, axe, scheme)


def test_a_rule_that_is_broken_is_found(page, axe):
    page.open("#/jobs").see("well")
    page.driver.execute_script("document.querySelector('main').append(document.createElement('button'))")
    assert [rule for _, rule, _ in broken_rules(page, axe, "light")] == ["button-name"]
