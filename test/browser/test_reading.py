# SPDX-License-Identifier: MIT
"""By keyboard, in the dark, with many rows."""

from support.chromium import By, Keys
from support.waiting import wait_for


def test_the_keyboard_alone_reaches_a_story(page):
    page.open("#/jobs").see("well", "badly")
    row = wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, "tr[tabindex='0']"), 20)[0]
    for _ in range(60):  # from the beginning of the page, by the key Tab alone
        if page.focused() == row:
            break
        page.press("TAB")
    assert page.focused() == row
    page.press("ARROW_DOWN")
    wait_for(lambda: page.focused().get_attribute("data-index") == "1", 20)
    page.press("SPACE")
    page.see("1 chosen")
    page.press("SPACE")
    page.press("ENTER").see("Submitted", "batchaid explain")
    assert page.focused().tag_name == "main"


def test_the_keyboard_goes_on_in_a_folder_and_in_a_file(page, shown):
    (shown.place.share() / "inner").mkdir(exist_ok=True)
    (shown.place.share() / "inner/some.txt").write_text("the text of some\n")
    page.open("#/storage/acct/files/out").see("inner/")
    page.driver.execute_script("[...document.querySelectorAll('tr[data-index]')].find((row) => row.innerText.includes('inner/')).focus()")
    page.press("ENTER").see("some.txt")
    wait_for(lambda: "some.txt" in page.focused().text and page.focused().tag_name == "tr", 10, lambda: page.focused().tag_name)
    page.press("ENTER").see("the text of some")
    wait_for(lambda: page.focused().tag_name == "main", 10, lambda: page.focused().tag_name)


def test_a_dialog_is_left_by_escape(page):
    page.open("#/people").click("Add a user").see("Add a user")
    wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), 20)
    page.press("ESCAPE")
    wait_for(lambda: not page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), 20)


def test_the_skip_link_is_the_first(page):
    page.open("#/jobs")
    page.driver.refresh()
    page.see("well").press("TAB")
    assert page.focused().text == "To the content"
    page.focused().send_keys(Keys.ENTER)
    wait_for(lambda: page.focused().tag_name == "main", 20)


def test_the_dark_page_has_light_letters(page):
    def paper():
        return page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(255, 255, 255)"
    page.prefer(prefers_color_scheme="dark")
    assert paper() == "rgb(20, 24, 29)"
    page.prefer(prefers_color_scheme="light")


def test_states_differ_without_colours(page):
    page.open("#/jobs").see("✓ succeeded", "✕ failed", "▶ running")


def test_squares_of_gpus_differ_without_colours(page):
    page.open("#/jobs").see("well")
    page.driver.execute_script("""for (const kind of ['busy', 'used', 'idle', 'free', 'drained', 'outside', 'unusable'])
        document.documentElement.style.setProperty('--gpu-' + kind, '#ff0000');
        location.hash = '#/overview'""")
    page.see("4 used")
    squares = page.driver.execute_script("return [...document.querySelectorAll('.legend canvas')].map((square) => square.toDataURL())")
    assert len(squares) == len(set(squares)) == 7


# Answers for the jobs of Azure Batch: nine pages of 50, of which every second is empty, as those of a filter may be.
LONG = """window.version = 1; window.asked = 0; window.states = 'active'; window.refused = 'none';
const real = window.fetch;
window.fetch = (path, options) => {
  const url = new URL(path, location.href);
  const answer = (body, status = 200) => Promise.resolve(new Response(JSON.stringify(body), {status}));
  if (url.pathname.includes('/jobs/n')) {
    const refused = url.pathname.includes(window.refused);
    return refused ? answer({error: {code: 'Conflict', message: 'It is held.'}}, 409) : answer({});
  }
  if (url.pathname !== '/batchaid/batch/jobs') return real(path, options);
  window.asked++;
  const page = Number(url.searchParams.get('after') ?? 0);
  const rows = page % 2 ? 0 : 50;
  const value = Array.from({length: rows}, (_, n) => ({account: 'acc', name: `n${page * 25 + n}`, state: window.states, pool: `v${window.version}`}));
  return answer({value, next: page < 16 ? page + 1 : undefined});
}; location.hash = '#/batch';"""


def top(page, to=None):
    return page.driver.execute_script("const s = document.querySelector('.list .scroll'); if (arguments[0] !== null) s.scrollTop = arguments[0]; return s.scrollTop", to)


def test_a_long_list_stays_fresh_or_says_that_it_is_old(page):
    page.driver.execute_script(LONG)
    page.see("n0")
    wait_for(lambda: (top(page, 1e9), any("n449" in row for row in page.rows()))[1], 20, page.rows)
    top(page, 0)
    page.driver.execute_script("window.version = 2")
    page.see("v2").see_none("v1").see_none("may have changed")
    wait_for(lambda: (top(page, 1e9), any("n249" in row or "n449" in row for row in page.rows()))[1], 20, page.rows)
    page.see("may have changed")
    page.driver.execute_script("window.version = 3")
    page.click("The list may have changed: read it again").see("v3", "n0").see_none("may have changed")
    assert top(page) == 0


def test_chosen_rows_are_those_of_now(page):
    page.driver.execute_script(LONG)
    page.see("n0").choose_rows("n1", "n2", "n3")
    page.see("3 chosen")
    page.driver.execute_script("window.refused = '/n2/'")
    page.click("Terminate").see("Terminate 3 jobs?").click("Terminate 3 jobs").see("Terminate: 2 jobs.", "1 of 3 failed. n2: It is held.", "1 chosen")
    page.click("Close").see_none("It is held.")
    page.driver.execute_script("window.states = 'disabled'")
    page.see("disabled").click("Enable").see("Enable 1 job?").click("No, go back")
    page.driver.execute_script("window.states = 'deleting'")
    page.see("deleting")
    assert not page.find("button", "Delete (0)").is_enabled()
    page.driver.execute_script("window.states = 'active'; window.refused = 'none'")
    page.see("active").click("Terminate").click("Terminate 1 job").see("Terminate: 1 job.").see_none("1 chosen")
    wait_for(lambda: page.focused().get_attribute("class") == "scroll", 10)


# Pieces of a text, put together in any order, have the lines and colours of the whole.
PIECES = """const done = arguments[0];
import(document.querySelector('script[type=module]').src.replace(/[^/]*$/, 'lines.js')).then(({append, prepend, linesFrom, LINES_MOST}) => {
  const parts = ['a', '\\n', '\u00e9', '\\u001b[31m', '\\u001b[0m', '\\n', '\u20ac\\n', 'longer', '\\r'];
  const any = (n) => Math.floor(Math.random() * n);
  const wrong = [];
  const words = (kept) => JSON.stringify([kept.lines, kept.styles.map((s) => s.names)]);
  for (let round = 0; round < 300; round++) {
    const text = Array.from({length: any(40)}, () => parts[any(parts.length)]).join('');
    const file = new TextEncoder().encode(text);
    let from = any(file.length + 1), end = from + any(file.length - from + 1);
    let kept = linesFrom(file.slice(from, end), from);
    while (from > 0 || end < file.length) {
      const [first, last] = any(2) ? [any(from + 1), end] : [from, end + any(file.length - end + 1)];
      if (first < from) kept = prepend(kept, file.slice(first, from));
      if (last > end) kept = append(kept, file.slice(end, last));
      [from, end] = [first, last];
    }
    if (words(kept) !== words(linesFrom(file, 0))) wrong.push(text);
  }
  const many = linesFrom(new TextEncoder().encode('x\\n'.repeat(LINES_MOST + 7)), 0);
  const more = append(many, new TextEncoder().encode('y\\nz'));
  done([wrong, many.first, many.from, many.lines.length, more.first, more.lines.length, more.lines.at(-1), more.isFull]);
}, (error) => done(String(error)));"""


def test_a_log_has_the_lines_of_all_its_pieces(page):
    found = page.driver.execute_async_script(PIECES)
    assert found == [[], 7, 13, 500000, 9, 500000, "z", True], found


# A log of numbers, one a line, that grows when the test says so.
NUMBERS = """const numbers = (from, to) => new TextEncoder().encode(Array.from({length: to - from}, (_, n) => `${from + n}\\n`).join(''));
let file = numbers(0, 499000);
window.grow = () => { const more = numbers(499000, 501000), all = new Uint8Array(file.length + more.length); all.set(file); all.set(more, file.length); file = all; };
const real = window.fetch;
window.fetch = (path, options) => {
  if (!path.includes('/files/content')) return real(path, options);
  if (options.method === 'HEAD') return Promise.resolve(new Response(null, {headers: {'Content-Length': file.length}}));
  const [, from, to] = /bytes=(\\d*)-(\\d*)/.exec(options.headers.Range);
  const begin = from ? Number(from) : Math.max(0, file.length - to);
  const end = from ? Math.min(file.length, Number(to) + 1) : file.length;
  const headers = {'Content-Range': `bytes ${begin}-${end - 1}/${file.length}`};
  return Promise.resolve(new Response(file.slice(begin, end), {status: 206, headers}));
}; location.hash = '#/job/lab/work/exp/long/logs';"""
SEEN = """const box = document.querySelector('.lines'), top = box.getBoundingClientRect().top;
const first = [...box.querySelectorAll('.line')].find((line) => line.getBoundingClientRect().top >= top);
return [first?.innerText, box.scrollHeight, first?.getBoundingClientRect().top - top];"""


def test_the_place_in_a_log_stays_while_lines_come_and_go(page):
    page.driver.execute_script(NUMBERS)
    page.see("498999")
    while page.find("button", "Load what is before"):
        page.click("Load what is before")
        wait_for(lambda: "498999" in page.text(), 10)
    page.driver.execute_script("document.querySelector('.lines').scrollTop = 250000 * 19")
    before = wait_for(lambda: (seen := page.driver.execute_script(SEEN))[0] == "250000" and seen, 10)
    page.driver.execute_script("window.grow()")
    page.see("at most 8.0 MiB and 500,000 lines")
    after = page.driver.execute_script(SEEN)
    assert 9.4e6 < before[1] < after[1] < 9.6e6 and after[0] == "250000" and after[2] == before[2]


# The log's file is gone when it is read.
GONE = """const real = window.fetch;
window.fetch = (path, options) => real(path.includes('/files/content') ? path.replace('stdout.txt', 'gone.txt') : path, options);
location.hash = '#/job/lab/work/exp/well/logs';"""


def test_a_log_that_cannot_be_read_has_the_sentence_of_the_daemon(page):
    page.expected.append("404")
    page.driver.execute_script(GONE)
    page.see("The file cannot be read: No such file or directory.", "Try again")


# A line of more than all that is kept: what came before cannot be shown.
LONG_LINE = """const done = arguments[0];
import(document.querySelector('script[type=module]').src.replace(/[^/]*$/, 'lines.js')).then(({append, linesFrom, BYTES_MOST}) => {
  const kept = append(linesFrom(new Uint8Array(BYTES_MOST).fill(120), 10), new Uint8Array(10).fill(120));
  done([kept.from, kept.data.length, kept.isFull, append(kept, new Uint8Array(1).fill(120)).isFull]);
}, (error) => done(String(error)));"""


def test_a_line_longer_than_all_that_is_kept_leaves_no_room_for_what_is_before(page):
    assert page.driver.execute_async_script(LONG_LINE) == [20, 8 * 1024 * 1024, True, True]
