# SPDX-License-Identifier: MIT
"""What programs write for terminals, as the page shows it in a log: colours of 256 and of 16 million, progress bars, lines of a
megabyte. Colours that the page does not show leave the text as it is, and no part of their sequences."""

import re

import pytest
from support.chromium import By

CASES = [  # written, seen, the classes of the pieces
    ("\033[38;5;196mred of 256\033[0m", "red of 256", [""]),
    ("\033[38;2;255;128;0morange\033[0m", "orange", [""]),
    ("\033[48;5;21;38;5;15mon blue\033[m", "on blue", [""]),
    ("\033[38:5:196mwith colons\033[0m", "with colons", [""]),
    ("\033[38:2::255:128:0mwith colons, too\033[0m", "with colons, too", [""]),
    ("\033[38;2;1;31;4m31 and 4 are no styles here\033[0m", "31 and 4 are no styles here", [""]),
    ("\033[38;5;1;1mbold\033[0m", "bold", ["bold"]),
    ("\033[38;2;1;2;3;4munderlined\033[0m", "underlined", ["underline"]),
    ("\033[31mred \033[38;5;244mgrey \033[31mred\033[0m", "red grey red", ["c-red", "", "c-red"]),
    ("\033[1;38;5;82mok\033[22m plain \033[39m\033[32mgreen\033[0m", "ok plain green", ["bold", "", "c-green"]),
    ("\033[38;5mno number\033[0m", "no number", [""]),
    ("\033[38mno kind\033[0m", "no kind", [""]),
    ("\033[38;2;1mtoo few\033[0m", "too few", [""]),
    ("\033[38;5;999999999999999999999mtoo large\033[0m", "too large", [""]),
    ("\033[38;5;;;;mempty\033[0m", "empty", [""]),
    ("  0%|          | 0/9\r 50%|\033[38;5;82m█████     \033[0m| 5/9\r100%|\033[38;2;0;255;0m██████████\033[0m| 9/9\r", "100%|██████████| 9/9", ["", "", ""]),
    ("\033[2K\033[1G\033[?25lEpoch 1\r\033[2K\033[1G\033[?25hEpoch 2", "Epoch 2", [""]),
    ("the end", "the end", [""]),
]
PIECES = """return [...document.querySelectorAll('.line')].map((line) => [...line.childNodes].filter((node) => node.textContent.trim())
    .map((node) => [node.textContent, node.className ?? '']));"""


@pytest.fixture
def written(page, shown):
    """written(text) -> the page with the file."""
    def write(name, text):
        (shown.place.share() / name).write_text(text, newline="")
        return page.open(f"#/storage/acct/files/out?path={name}&file=1")

    return write


def test_no_part_of_a_colour_is_text(written):
    page = written("colours.log", "".join(text + "\n" for text, _, _ in CASES)).see("the end")
    lines = page.driver.execute_script(PIECES)
    assert ["".join(text for text, _ in line).strip() for line in lines] == [seen for _, seen, _ in CASES]
    # Pieces of one style that follow each other are no matter.
    for line, (_, seen, names) in zip(lines, CASES):
        assert [name for n, (_, name) in enumerate(line) if n == 0 or name != line[n - 1][1]] == [name for n, name in enumerate(names) if n == 0 or name != names[n - 1]], seen


@pytest.mark.parametrize("unit, name", [("x", "plain"), ("\033[38;5;196mx", "256"), ("\033[38;2;10;20;30mx", "many"), ("é", "umlaut"), ("😀", "pair")])
@pytest.mark.parametrize("before", range(3))
def test_a_line_of_a_megabyte_is_cut_between_characters(written, unit, name, before):
    """Wherever the cut falls: the page shows the beginning, and the rest on demand."""
    seen = unit[-1]
    whole = "a" * before + unit * (1000000 // len(unit.encode())) + "\033[0m"
    page = written(f"{name}{before}.log", "first\n" + whole + "\nlast\n").see("last")
    page.click("Load what is before").see("first", "last", "more characters")
    lines = page.driver.find_elements(By.CSS_SELECTOR, ".line")
    line = page.driver.execute_script("return [...document.querySelectorAll('.line')].find((line) => line.querySelector('button')).innerText")
    shown = line.split(" ")[0]
    assert len(lines) == 3 and set(shown) <= {"a", seen} and len(shown) > 200, shown[-60:]
    if unit == seen:
        units = lambda text: len(text.encode("utf-16-le")) // 2  # noqa: E731
        assert int(re.search(r"([\d,]+) more characters", line)[1].replace(",", "")) == units(whole) - units(shown)
    page.click("more characters").see_none("more characters")
    line = page.driver.execute_script("return document.querySelectorAll('.line')[1].textContent.trim()")
    assert line == "a" * before + seen * (1000000 // len(unit.encode())), line[:60] + " ... " + line[-60:]


def test_a_progress_bar_of_a_megabyte_shows_its_last(written):
    bar = "".join(f"\r\033[38;5;{n % 256}m{n:6} of 40000\033[0m" for n in range(1, 40001))
    page = written("bar.log", "begun\n" + bar).see(" 40000 of 40000")
    assert "39999" not in page.text() and "38;5" not in page.text()
