# SPDX-License-Identifier: MIT
"""Names, logs and files of users that would be programs or would deceive the reader. All are shown as text, or refused."""

import subprocess
from urllib.parse import quote

import pytest
from support.chromium import By
from support.waiting import wait_for

SCRIPT = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>"
HTML = "<!DOCTYPE html><body><script>window.hit = 1; document.title = 'hit'; fetch('/batchaid/session')</script>seen</body>"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'><script>window.hit = 1</script><text y='20'>seen</text></svg>"
MADE = """import os
out = os.environ["AZ_BATCHAI_OUTPUT_ALL"] + "/"
def write(name, data):
    open(out.encode() + name, "wb").write(data)
write(b"page.html", %r)
write(b"picture.svg", %r)
write(%r.encode(), b"hostile name")
write("\\u202egpj.exe".encode(), b"turned around")
write(b"\\xff\\xfe.txt", b"no UTF-8")
write(b"hostile.log", b"\\x1b[31mred\\x1b[0m " + %r + b"\\n10%%\\r50%%\\rdone\\n" + b"x" * 1000000 + b"\\n\\xff\\xfe broken\\n\\x1b]0;title\\x07bell \\xe2\\x80\\xae turned\\n")
""" % (HTML.encode(), SVG.encode(), "<b>bold<b>.txt", SCRIPT.encode())


@pytest.fixture(scope="module")
def hostile(shown):
    (shown.place.share() / "made.py").write_text(MADE)
    job = shown.job("python3 $AZ_BATCHAI_MOUNT_ROOT/out/made.py", name="hostile",
                    outputDirectories=[{"id": "ALL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}])
    job.succeed()
    return "#/job/lab/work/exp/hostile/files?directory=ALL"


def hit(page):
    return page.driver.execute_script("return window.hit")


def test_names_are_shown_as_text(page, hostile):
    page.open(hostile).see("<b>bold<b>.txt", "<U+202E>gpj.exe", "page.html")
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".list b") and hit(page) is None


def test_a_log_is_shown_as_text(page, hostile):
    page.open(hostile).click("hostile.log").click("Load what is before").see("red <img src=x", "done", "more characters", "<U+202E> turned", "\ufffd\ufffd broken")
    assert "10%" not in page.text() and hit(page) is None
    assert page.driver.find_element(By.CSS_SELECTOR, ".c-red").text == "red"


@pytest.mark.parametrize("name", ["page.html", "picture.svg"])
def test_files_that_are_programs_are_shown_as_text(page, hostile, name):
    page.open(hostile).click(name).see("window.hit = 1")
    assert hit(page) is None


@pytest.mark.parametrize("name", ["page.html", "picture.svg"])
def test_the_file_itself_runs_nothing_in_the_origin_of_the_page(page, hostile, name):
    url = f"{page.origin}/batchaid/jobs/lab/work/exp/hostile/files/content?directory=ALL&path={name}"
    page.expected += ["sandbox", "Content Security Policy"]
    page.driver.get(url)
    wait_for(lambda: page.driver.execute_script("return document.readyState") == "complete")
    assert hit(page) is None and page.driver.title != "hit"


def test_a_filter_with_markup_is_text(page):
    page.open("#/jobs?user=" + "%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E").see("No job fits these filters.")
    assert hit(page) is None


# --- commands that the page shows ---------------------------------------------------------------------------------------------------


def command(page):
    page.see("command")
    return wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".command"), 20)[-1].text


@pytest.mark.parametrize("name", ["x\x03\ntouch hit\n7", "it's \\ \u202e0", "\t\x7f\x857", "a'b\\"])
def test_a_command_has_no_key_of_a_terminal(page, name):
    """Ctrl-C would drop the line that is pasted, and the next line would be run."""
    page.open("#/jobs?user=" + quote(name, safe=""))
    shown = command(page).removeprefix("The same as a command:").removesuffix("Copy").strip()
    assert shown.isprintable() and "<U+" not in shown
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {shown}"], capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert words.split("\0") == ["batchaid", "jobs", "--user", name, ""]


@pytest.mark.parametrize("path, says", [("a/-x", "--file ./-x"), ("a/@x", "--file ./@x"), ("@x", "az would take the name that begins with @ for a file")])
def test_a_command_of_a_blob_reads_and_writes_the_named_file(page, shown, path, says):
    page.expected.append("404")
    page.open(f"#/storage/acct/blobs/box?path={quote(path, safe='')}&file=1")
    assert says in command(page)


def test_an_address_with_a_broken_escape_is_survived(page):
    page.expected.append("404")
    page.open("#/job/%E0%A4%A/x/y/z").see("Overview", "Try again")
