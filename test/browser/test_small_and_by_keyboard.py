# SPDX-License-Identifier: MIT
"""Every view on a phone of 360 pixels, and by the keyboard alone: nothing is beyond the edge, cut or out of reach."""

from pathlib import Path

import pytest
from support.chromium import By
from support.waiting import wait_for

PHONE = 360
JOB = "job/lab/work/exp/a-job-with-a-name-that-is-as-long-as-names-of-jobs-may-be-here-1"
# (address, a word that the view has once it is read, the row that is chosen.)
VIEWS = [
    ("overview", "4 used", None), ("queue", "long", "long"), ("jobs", "well", "long"), (JOB, "batchaid explain", None), (f"{JOB}/logs", "trained", None),
    (f"{JOB}/files?directory=OUT", "a,b.csv", None), (f"{JOB}/files?directory=OUT&path=a%2Cb.csv&file=1", "cell 49", None),
    (f"{JOB}/files?directory=OUT&path=t.json&file=1", "key", None), (f"{JOB}/use", "Each part of a node that it had", None),
    ("machines", "spare.rack", "spare.rack"), ("machine/spare.rack", "SPARE", None), ("machine/{node}", "What it did", None), ("use", "Node hours", None),
    ("batch", "job1", "job1"), ("batch/pools", "pool1", None), ("tasks/{account}/job1", "task1", "task1"), ("job/{group}/{account}/job1/task1", "Exit code", None),
    ("storage", "acct", None), ("storage/acct/files/out", "Name", None), ("storage/acct/blobs/models", "weights", None), ("people", "mallory@lab", "mallory@lab"),
    ("nothing", "The page has no view", None),
]


@pytest.fixture(scope="module")
def names(shown, batch):
    from support.people import Person

    (shown.place.share() / "write.py").write_text("import os\nout = os.environ['AZ_BATCHAI_OUTPUT_OUT']\n"
                                                  "open(out + '/a,b.csv', 'w').write('\\n'.join(','.join(f'cell {n}' for n in range(60)) for _ in range(3)))\n"
                                                  "open(out + '/t.json', 'w').write('{\"key\": \"' + 'x' * 500 + '\"}')\nprint('trained', 'x' * 500)\n")
    shown.job("python3 $AZ_BATCHAI_MOUNT_ROOT/out/write.py", name=JOB.rsplit("/", 1)[1], outputDirectories=[{"id": "OUT", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]).succeed()
    models = Path(shown.daemon.tool("share-path", "acct", "models", "--container").stdout.strip())
    (models / ("weights-" + "w" * 200)).write_text("0.5\n")
    mallory = Person(shown.daemon, "Reader", name="mallory@lab")
    node = next(node["name"] for node in shown.daemon.get("/batchaid/nodes")["value"] if node.get("job"))
    yield {"account": batch.name, "group": batch.accounts.group, "node": node}
    mallory.remove()


@pytest.fixture
def view(page, names):
    """view(...) -> the page there, with the row chosen."""
    def show(address, word, row):
        page.open(f"#/{address.format(**names)}").see(word)
        if row:
            page.choose_rows(row).see("1 chosen")
        return page

    return show


# What a finger or a key acts on.
ACTING = "a[href], button:not(:disabled), input, select, summary, .lines, tr[tabindex='0']"
NAMED = "const named = (node) => `${node.tagName} ${(node.getAttribute('aria-label') ?? node.innerText ?? '').slice(0, 60)} ${node.className}`;"
SEEN = "const seen = (node) => node.checkVisibility() && node.getClientRects().length > 0 && !node.classList.contains('skip');"
# What only a script can scroll to is out of reach. A cell of a list may cut its link, and the list scrolls sideways by itself: what counts is the part that is seen.
OUT_OF_REACH = NAMED + SEEN + """const out = [];
for (const node of [...document.querySelectorAll(arguments[0])].filter(seen)) {
  node.scrollIntoView({block: 'center', inline: 'nearest'});
  const box = node.getClientRects()[0], cell = node.closest('td')?.getBoundingClientRect() ?? box, isWide = node.matches('tr, .lines');
  const left = Math.max(box.left, cell.left), right = Math.min(box.right, cell.right), y = box.top + box.height / 2;
  for (let at = node.parentElement; at && !at.matches('td'); at = at.parentElement) {
    const style = getComputedStyle(at);
    if ((style.overflowX === 'hidden' && at.scrollLeft > 0) || (style.overflowY === 'hidden' && at.scrollTop > 0)) out.push(`${named(node)}: in a box that is cut`);
  }
  const hit = document.elementFromPoint(isWide ? innerWidth / 2 : (left + right) / 2, y);
  if ((!isWide && (left < -1 || right > innerWidth + 1)) || !hit || !(node.contains(hit) || (hit.contains(node) && hit.matches('a, label, td, tr'))))
    out.push(`${named(node)}: ${Math.round(left)}-${Math.round(right)} at ${Math.round(y)}, there is ${hit && named(hit)}`);
}
scrollTo(0, 0);
return out;"""
# Texts whose end is not shown, and of which no other place says the whole: a title, a link to its view, a box that scrolls.
CUT = NAMED + SEEN + """return [...document.querySelectorAll('body *')].filter((node) => seen(node) && node.childElementCount === 0 && node.innerText?.trim()
    && !node.closest('.unseen, canvas, svg, .u-wrap')).filter((node) => {
  for (let at = node; at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (['auto', 'scroll'].includes(style.overflowX)) return false;
    if (style.overflowX !== 'visible' && at.scrollWidth > at.clientWidth + 1) return !node.closest('[title]:not([title=""]), a[href]') && !at.querySelector('[title]:not([title=""]), a[href]');
  }
  return false;
}).map(named);"""


def wait_for_phone(page):
    """The page is as wide as the phone once it has been laid out again."""
    def wide():
        return page.driver.execute_script("return document.documentElement.scrollWidth")
    wait_for(lambda: wide() <= PHONE, 20, lambda: f"the document is {wide()} pixels wide")


@pytest.mark.parametrize("address, word, row", VIEWS, ids=[view[0] for view in VIEWS])
def test_a_phone_has_all_of_a_view(page, view, address, word, row):
    page.resize(PHONE, 740)
    view(address, word, row)
    wait_for_phone(page)
    assert page.driver.execute_script(OUT_OF_REACH, ACTING) == []
    assert page.driver.execute_script(CUT) == []


def test_a_long_name_of_a_file_is_whole_in_its_title(page, view):
    page.resize(PHONE, 740)
    view("storage/acct/blobs/models", "weights", None)
    cut = page.driver.execute_script("return [...document.querySelectorAll('td.name')].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.title)")
    assert cut == ["weights-" + "w" * 200]
    page.click("weights-" + "w" * 112 + "… (208 characters)").see("0.5")
    assert page.driver.find_element(By.CSS_SELECTOR, ".crumbs [title]").get_attribute("title") == cut[0]


@pytest.mark.parametrize("dialog", [("people", "Add a user", None), ("machines", "Drain", "spare.rack"), ("queue", "Cancel", "long"), ("batch", "Disable", "job1")], ids=lambda d: d[1])
def test_a_phone_has_all_of_a_dialog(page, view, dialog):
    address, button, row = dialog
    page.resize(PHONE, 740)
    view(address, "", row).click(button)
    wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), 20)
    assert page.driver.execute_script("return document.documentElement.scrollWidth") <= PHONE
    assert page.driver.execute_script(OUT_OF_REACH, "dialog button, dialog input, dialog select") == []
    page.press("ESCAPE")


def test_a_phone_has_all_of_the_login(browser, names):
    browser.resize(PHONE, 740)
    browser.open().see("Log in")
    assert browser.driver.execute_script("return document.documentElement.scrollWidth") <= PHONE
    assert browser.driver.execute_script(OUT_OF_REACH, ACTING) == []


@pytest.mark.parametrize("style, check", [(".filters { flex-wrap: nowrap }", OUT_OF_REACH), ("header { overflow: hidden; height: 20px }", OUT_OF_REACH),
                                          (".command { white-space: nowrap; overflow: hidden }", CUT)], ids=["wide", "hidden", "cut"])
def test_a_view_that_does_not_fit_is_found(page, view, style, check):
    page.resize(PHONE, 740)
    view("jobs", "well", None).driver.execute_script("const sheet = new CSSStyleSheet(); sheet.replaceSync(arguments[0]); document.adoptedStyleSheets = [sheet]", style)
    assert page.driver.execute_script(check, ACTING) != []


# The stops of the key Tab that are seen. Rows are one stop, and their boxes are chosen by the space bar.
STOPS = SEEN + """window.stops = [...document.querySelectorAll(arguments[0])].filter((node) => seen(node) && node.tabIndex >= 0);
document.activeElement.blur(); return window.stops.length;"""
FOCUSED = NAMED + """const node = document.activeElement, n = window.stops.indexOf(node), style = getComputedStyle(node);
return [n, named(node), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0];"""


@pytest.mark.parametrize("address, word, row", VIEWS, ids=[view[0] for view in VIEWS])
def test_the_key_tab_reaches_all_of_a_view(page, view, address, word, row):
    view(address, word, row)
    count, reached = page.driver.execute_script(STOPS, ACTING), set()
    for _ in range(count + 10):  # and what is not in the view: the skip link, boxes that scroll
        page.press("TAB")
        n, name, is_seen = page.driver.execute_script(FOCUSED)
        reached.add(n)
        assert is_seen or n < 0, f"the focus is not seen at {name}"
    missed = page.driver.execute_script(NAMED + "return window.stops.filter((node, n) => node.isConnected && !arguments[0].includes(n)).map(named)", sorted(reached))
    assert missed == []
