# SPDX-License-Identifier: MIT
"""Links between pages lead to a page that is there, and to a heading that is in it."""
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "tools"))
import plain_words  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "test/README.md", ROOT / "nodeagent-proto/PROTOCOL.md",
         *sorted((ROOT / "docs").glob("*.md"))]  # fmt: skip
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(page):
    """Without blocks and code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S))


def anchors(page):
    """As GitHub makes them of headings: letters, digits, - and _ of the text in lower case."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    for link in LINK.findall(re.sub(r"\]\(\n\s*", "](", prose(page))):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: {target.name} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name if p.parent.name == "docs" else str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.md").write_text("# First part\n[x](a.md#first-part) [y](b.md) [z](#second) `[w](c.md)` [h](https://example.org)\n")
    assert list(broken(tmp_path / "a.md")) == ["b.md: there is no such file", "#second: a.md has no such heading"]


def test_each_page_can_be_reached_from_the_readme():
    seen, new = set(), [ROOT / "README.md"]
    while new:
        page = new.pop()
        seen.add(page)
        for link in LINK.findall(prose(page)):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists() and target not in seen:
                new.append(target)
    assert {page.name for page in (ROOT / "docs").glob("*.md") if page not in seen} == set()


FOLDERS = ("api", "daemon", "docs", "etc", "lib", "migrations", "model", "nodeagent-proto", "scheduler", "storage", "test")
# Names with a part in capitals stand for many.
FILE, FUNCTION, STRUCT = (re.compile(rf"`{text}") for text in (r"([\w./-]+\.(?:c|h|py|sql|txt|tsv))`", r"([a-z]\w+)\(\)`", r"struct (\w+)"))
MADE = {"routes.h"}  # by the build


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md", "test/README.md"])
def test_a_page_on_the_code_names_only_what_is_there(page):
    text = (ROOT / page).read_text()
    sources = [f for folder in FOLDERS for f in (ROOT / folder).rglob("*") if f.suffix in (".c", ".h", ".py", ".sql", ".txt", ".tsv")]
    paths = [f"/{f.relative_to(ROOT).as_posix()}" for f in sources]
    code = " ".join(f.read_text() for f in sources if f.suffix != ".tsv")
    words, structs = set(re.findall(r"\b(\w+)\(", code)), set(re.findall(r"\bstruct (\w+)", code))
    wrong = [name for name in FILE.findall(text)
             if not re.search("[A-Z]{4}", name) and name not in MADE and not any(p.endswith(f"/{name}") for p in paths)]
    wrong += [f"{name}()" for name in FUNCTION.findall(text) if name not in words and "NAME" not in name]
    wrong += [f"struct {name}" for name in STRUCT.findall(text) if name not in structs]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_is_in_plain_words(page):
    text = re.sub(r"\s+", " ", re.sub(r"``", "", prose(page)))
    assert plain_words.unclear(text, plain_words.FOR_PAGES) == []
