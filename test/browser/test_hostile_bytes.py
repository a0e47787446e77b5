# SPDX-License-Identifier: MIT
"""Files and blobs of users that are programs for a browser, opened by each address at the page's host that gives their bytes.
None runs with the reader's login: each tries to leave a mark and to ask the API, and each reply forbids it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlsplit

import pytest
from support.storage import ACCOUNT, StorageDaemon
from support.waiting import wait_for
from support.world import MOUNT

SCRIPT = """document.title = 'hit'; try { localStorage.setItem('hit', document.URL) } catch (e) {} fetch('/batchaid/session?hit', {credentials: 'include'});
new Image().src = '/batchaid/session?hit';"""
HTML = f"<!DOCTYPE html><body onload=\"{SCRIPT}\"><script>{SCRIPT}</script>seen</body>"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{SCRIPT}\"><script>{SCRIPT}</script><text y='20'>seen</text></svg>"
SHEET = ("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'>"
         f"<html><body><script>{SCRIPT}</script>seen</body></html></xsl:template></xsl:stylesheet>")
XML = f"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='data:text/xml,{quote(SHEET)}'?><root>seen</root>"
XHTML = f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>-</title></head><body><script>{SCRIPT}</script>seen</body></html>"
PDF = ("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert(1);this.submitForm('/batchaid/session?hit'))>>>>endobj\n"
       "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
# name: (bytes, the type that a client noted with it; the name alone decides at a job's output.)
HOSTILE = {
    "page.html": (HTML, "text/html"),
    "typed.html": (HTML, "text/html; charset=utf-8"),
    "x.txt": (HTML, "text/html"),
    "picture.svg": (SVG, "image/svg+xml"),
    "styled.xml": (XML, "text/xml"),
    "page.xhtml": (XHTML, "application/xhtml+xml"),
    "paper.pdf": (PDF, "application/pdf"),
}
MADE = "import os\nfor n in ('SHARE', 'BOX', 'NODE'):\n    for name, text in %r.items():\n        open(os.environ['AZ_BATCHAI_OUTPUT_' + n] + '/' + name, 'w').write(text)\n"


@pytest.fixture(scope="module")
def served():
    """One that also serves blobs and files with the account in the path."""
    d = StorageDaemon(config={"local": {"nodes": 3, "fake_gpus": 4}})
    d.tool("keygen")
    with d:
        yield d


class Hostile:
    """The hostile files in all places that users can write to. `batch` has a task of Azure Batch, whose files they are too."""

    def __init__(self, shown, batch):
        self.daemon, self.batch = shown.daemon, batch
        folder = shown.place.share() / "hostile"
        folder.mkdir()
        (folder / "made.py").write_text(MADE % {name: text for name, (text, _) in HOSTILE.items()})
        box = {"accountName": "acct", "containerName": "box", "credentials": {"accountKey": "c2VjcmV0IGtleQ=="}, "relativeMountPath": "box"}
        self.job = shown.job(f"python3 {MOUNT}/hostile/made.py", name="hostile", mountVolumes={"azureBlobFileSystems": [box]},
                             outputDirectories=[{"id": "SHARE", "pathPrefix": f"{MOUNT}/hostile"}, {"id": "NODE", "pathPrefix": "$AZ_BATCHAI_JOB_TEMP"},
                                                {"id": "BOX", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/box"}])
        self.job.succeed()
        self.task = batch.job.ran(f"/bin/sh -c 'cp {folder}/* .'", id="hostile")[0]
        blob, file = self.daemon.blob, self.daemon.file
        blob.call("PUT", "/box?restype=container", x_ms_blob_public_access="blob")
        file.call("PUT", "/share?restype=share")
        for name, (text, kind) in HOSTILE.items():
            blob.call("PUT", f"/box/{name}", text.encode(), x_ms_blob_type="BlockBlob", x_ms_blob_content_type=kind, x_ms_blob_content_disposition="inline")
            file.call("PUT", f"/share/{name}", x_ms_type="file", x_ms_content_length=str(len(text)), x_ms_content_type=kind)
            file.call("PUT", f"/share/{name}?comp=range", text.encode(), x_ms_write="update", x_ms_range=f"bytes=0-{len(text) - 1}")


    def of_job(self, directory, name):
        return f"/batchaid/jobs/lab/work/exp/hostile/files/content?directory={directory}&path={name}"

    def in_storage(self, kind, share, name):
        return f"/batchaid/storage/content?account={ACCOUNT}&kind={kind}&share={share}&path={name}"

    def linked(self, directory, name):
        """The link that clients of Batch AI are given, whose signature is all it needs."""
        link = urlsplit(self.job.link(name, directory))
        return f"{link.path}?{link.query}"


# At the origin of the page.
ROUTES = {
    "a job's file in a share": lambda h, name: h.of_job("SHARE", name),
    "a job's file in a container": lambda h, name: h.of_job("BOX", name),
    "a job's file on its node": lambda h, name: h.of_job("NODE", name),
    "a share's file": lambda h, name: h.in_storage("files", "share", name),
    "a blob": lambda h, name: h.in_storage("blobs", "box", name),
    "a link to a share's file": lambda h, name: h.linked("SHARE", name),
    "a link to a blob": lambda h, name: h.linked("BOX", name),
    "a link to a node's file": lambda h, name: h.linked("NODE", name),
}
ASKED = """const [url, done] = arguments;
fetch(url).then((reply) => done([reply.status, ...['Content-Security-Policy', 'X-Content-Type-Options', 'Content-Disposition', 'Content-Type'].map((name) => reply.headers.get(name))]),
                (error) => done([String(error)]));"""


@pytest.fixture
def page(page):
    """What is forbidden is said in the console; so is what this browser will not have for long."""
    page.expected += ["sandbox", "Content Security Policy", "Failed to load resource", "XSLT"]
    return page


@pytest.fixture(scope="module")
def hostile(shown, batch):
    return Hostile(shown, batch)


def visit(page, url):
    """Whether the program ran: it names the document."""
    page.driver.get(url)
    wait_for(lambda: page.driver.execute_script("return document.readyState") == "complete")
    return page.driver.title == "hit"


def marks(page):
    """What programs have left in the page's origin, and asked of the API."""
    page.open(page.origin + "/#/jobs").see("Log out")
    page.console()
    return page.driver.execute_script("return localStorage.getItem('hit')"), [url for url in page.requests if url.endswith("?hit")]


def asked(page, url):
    page.open(page.origin + "/#/jobs").see("Log out")
    return page.driver.execute_async_script(ASKED, url)


@pytest.mark.parametrize("route", ROUTES)
def test_a_program_runs_nowhere_in_the_origin_of_the_page(page, hostile, route):
    for name in HOSTILE:
        path = ROUTES[route](hostile, name)
        status, policy, kind, disposition, _ = asked(page, path)
        assert status == 200 and "sandbox" in policy.split("; ") and kind == "nosniff", (name, status, policy, kind)
        assert (disposition or "inline") == "inline", name
        assert not visit(page, page.origin + path), name
    assert marks(page) == (None, [])


@pytest.mark.parametrize("view", ["job/lab/work/exp/hostile/files?directory=BOX", f"storage/{ACCOUNT}/files/share?", f"storage/{ACCOUNT}/blobs/box?"])
def test_the_page_shows_a_program_as_text(page, hostile, view):
    for name, (text, _) in HOSTILE.items():
        page.open(f"#/{view}&path={name}&file=1").see(text.split("\n")[0])
        assert page.driver.title != "hit", name
    assert marks(page) == (None, [])


@pytest.mark.parametrize("route", [name for name in ROUTES if not name.startswith("a link")])
def test_a_download_is_a_file_and_no_document(page, hostile, route):
    for name in HOSTILE:
        status, policy, kind, disposition, _ = asked(page, ROUTES[route](hostile, name) + "&download=true")
        assert status == 200 and "sandbox" in policy.split("; ") and kind == "nosniff", (name, status, policy, kind)
        assert disposition.startswith(f'attachment; filename="{name}"'), (name, disposition)


def test_a_files_own_type_is_kept(page, hostile):
    """It is the policy that makes it harmless; clients get what was noted."""
    for route in ("a share's file", "a blob"):
        assert {name: asked(page, ROUTES[route](hostile, name))[4] for name in HOSTILE} == {name: kind for name, (_, kind) in HOSTILE.items()}


def test_files_of_batch_take_no_cookie(page, hostile):
    node = hostile.batch.job.task(hostile.task)["nodeInfo"]["nodeId"]
    for path in (f"/jobs/job1/tasks/{hostile.task}/files/wd/page.html", f"/pools/pool1/nodes/{node}/files/workitems/job1/{hostile.task}/wd/page.html"):
        path += f"?api-version={hostile.batch.plane.version}"
        status, policy, kind, _, _ = asked(page, path)
        assert status in (401, 403, 404) and "sandbox" in policy.split("; ") and kind == "nosniff", (status, policy, kind)
        assert not visit(page, page.origin + path)
    assert marks(page) == (None, [])


def test_a_blob_with_the_account_in_its_path_runs_nothing(page, hostile):
    """At another port of the page's host, which a browser takes for the same site."""
    for name in HOSTILE:
        assert not visit(page, f"{hostile.daemon.blob.url.replace('127.0.0.1', 'localhost')}/box/{name}"), name
    assert marks(page) == (None, [])
    page.requests.clear()  # of the other port


def test_the_programs_run_where_nothing_forbids_them(page):
    """Or the tests above would show nothing. A PDF's program asks nobody and names nothing, in this browser."""
    class Careless(BaseHTTPRequestHandler):
        def do_GET(self):
            text, kind = HOSTILE.get(self.path[1:], ("", "text/plain"))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Careless) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        ran = {name for name in HOSTILE if visit(page, f"http://127.0.0.1:{server.server_port}/{name}")}
        server.shutdown()
        thread.join()
    assert ran == set(HOSTILE) - {"paper.pdf"}
    page.driver.get("about:blank")
    page.complaints()
