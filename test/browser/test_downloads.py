# SPDX-License-Identifier: MIT
"""Files with odd names, downloaded by the page's own links: their bytes arrive, under names that are harmless."""

import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.chromium import By
from support.storage import ACCOUNT, StorageDaemon, encoded
from support.waiting import wait_for
from support.world import MOUNT

NAMES = {
    "quotes": "a \"quo'ted\"; filename=b.txt",
    "umlauts": "Übergröße 100 %.txt",
    "slashes of others": "a\u2215b\u2044c\\d.txt",
    "steps upward": "..\\..\\up.txt",
    "a mark that turns": "evil\u200fgpj.exe",
    "an override": "evil\u202egpj.exe",
    "an Arabic mark": "evil\u061cgpj.exe",
    "a time": "run 10:30*?|.log",
    "dots at the end": "what...",
    "a hidden file": ".profile",
    "markup": "<b>&amp;.html",
}
# Every byte, line ends of all kinds, more than one piece.
DATA = bytes(range(256)) * 3000 + b"\r\n\r\nend"


@pytest.fixture(scope="module")
def served():
    d = StorageDaemon(config={"local": {"nodes": 3, "fake_gpus": 4}})
    d.tool("keygen")
    with d:
        yield d


@pytest.fixture(scope="module")
def folders(shown):
    """The view of each folder, by what it is."""
    (shown.place.share() / "data").write_bytes(DATA)
    put = f"import os, shutil\nfor name in {list(NAMES.values())!r}:\n    shutil.copyfile('data', os.environ['AZ_BATCHAI_OUTPUT_ODD'] + '/' + name)\n"
    (shown.place.share() / "put.py").write_text(put)
    shown.job(f"cd {MOUNT} && python3 put.py", name="odd", outputDirectories=[{"id": "ODD", "pathPrefix": f"{MOUNT}/odd"}]).succeed()
    blob = shown.daemon.blob
    blob.call("PUT", "/box?restype=container")
    for name in NAMES.values():
        blob.call("PUT", f"/box/{encoded(name)}", DATA, x_ms_blob_type="BlockBlob", x_ms_blob_content_disposition='attachment; filename="../other"')
    files = next((shown.place.share() / "odd").rglob("Über*")).parent.relative_to(shown.place.share())
    return {"job": "job/lab/work/exp/odd/files?directory=ODD", "share": f"storage/acct/files/out?path={files}", "container": f"storage/{ACCOUNT}/blobs/box"}


@pytest.fixture
def saved(page, tmp_path):
    """A browser that saves files here."""
    def allow(**how):
        page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", how)

    allow(behavior="allow", downloadPath=str(tmp_path))
    yield tmp_path
    allow(behavior="default")


def one_file(folder):
    """That is there, and whole."""
    found = list(folder.rglob("*"))
    return found[0] if len(found) == 1 and not found[0].name.endswith(".crdownload") and found[0].stat().st_size == len(DATA) else None


def turns(name):
    """Whether it has characters that are not seen, or that lead to another folder."""
    return any(c in '/\\"' or unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in name)


def is_harmless(name):
    """Of a file that is saved."""
    return not turns(name) and not name.startswith(".") and not set(name) & set("<>:|?*")


def link_of(page, name):
    """The link of the row, by the name in its address: the name that is shown has marks in words."""
    def found():
        for link in page.driver.find_elements(By.CSS_SELECTOR, "a[download]"):
            path = unquote(link.get_attribute("href").split("path=")[1].split("&")[0])
            if path.rsplit("/", 1)[-1] == name:
                return link
        return None

    return wait_for(found, 20, lambda: f"no link for {name!r} in {page.text()}")


@pytest.mark.parametrize("what", NAMES)
@pytest.mark.parametrize("place", ["job", "share", "container"])
def test_a_file_is_saved_under_a_harmless_name(page, folders, saved, place, what):
    name = NAMES[what]
    link = link_of(page.open(f"#/{folders[place]}"), name)
    told = page.driver.execute_async_script("const [url, done] = arguments; fetch(url, {method: 'HEAD'}).then((reply) => done(reply.headers.get('Content-Disposition')))",
                                            link.get_attribute("href"))
    assert told.startswith('attachment; filename="') and not turns(unquote(told.split("UTF-8''")[1])), told
    link.click()
    file = wait_for(lambda: one_file(saved), 20, lambda: list(saved.rglob("*")))
    assert file.read_bytes() == DATA and file.parent == saved and is_harmless(file.name), file
    if what == "umlauts":
        assert file.name == name
    if what != "dots at the end":
        assert file.suffix == Path(name).suffix, "its kind is not hidden"
