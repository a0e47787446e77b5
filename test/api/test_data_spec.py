# SPDX-License-Identifier: MIT
"""The judge of the data planes' replies finds what is wrong with one."""

import pytest
from support import data_spec
from support.blobs import daemon  # noqa: F401 fixture
from support.storage import BLOBS, FILES


@pytest.fixture(autouse=True)
def documents():
    if isinstance(BLOBS, data_spec.NoSpec) or isinstance(FILES, data_spec.NoSpec):
        pytest.skip("the published documents of blobs and files are not beside this tree")


class Changed:
    """An answer, with other headers or another body."""

    def __init__(self, answer, status=None, body=None, **headers):
        self.status = status or answer.status
        self.headers = dict(answer.headers.items()) | {k.replace("_", "-"): v for k, v in headers.items()}
        self.headers = {k: v for k, v in self.headers.items() if v is not None}
        self.body = answer.body if body is None else body

    @property
    def code(self):
        return self.headers.get("x-ms-error-code")


def complaints(method, path, answer):
    return "\n".join(BLOBS.complaints(method, path, answer))


def test_headers(daemon):
    made = daemon.blob.call("PUT", "/judged?restype=container")
    path = "/judged?restype=container"
    assert complaints("PUT", path, made) == ""
    assert complaints("PUT", path, Changed(made, ETag=None)) == "no header ETag"
    assert "which is no date" in complaints("PUT", path, Changed(made, Last_Modified="now"))
    assert "x-ms-new, which is not documented" in complaints("PUT", path, Changed(made, x_ms_new="1"))
    assert "no header x-ms-request-id" in complaints("PUT", path, Changed(made, x_ms_request_id=None))
    assert "status 200" in complaints("PUT", path, Changed(made, status=200))
    assert "a body" in complaints("PUT", path, Changed(made, body=b"x"))
    head = daemon.blob.call("HEAD", path)
    assert complaints("HEAD", path, head) == ""
    assert "none of" in complaints("HEAD", path, Changed(head, x_ms_lease_state="lost"))
    assert "no boolean" in complaints("HEAD", path, Changed(head, x_ms_has_legal_hold="no"))


def test_bodies(daemon):
    daemon.blob.call("PUT", "/judged-list?restype=container")
    daemon.blob.call("PUT", "/judged-list/b", b"x", x_ms_blob_type="BlockBlob")
    path = "/judged-list?restype=container&comp=list"
    got = daemon.blob.call("GET", path)
    assert complaints("GET", path, got) == ""
    for old, new, said in (
        (b"<Name>b</Name>", b"", "no element EnumerationResults/Blobs/Blob/Name"),
        (b"<Name>b</Name>", b"<Name>b</Name><Title/>", "element EnumerationResults/Blobs/Blob/Title"),
        (b"<Content-Length>1<", b"<Content-Length>one<", "Content-Length is 'one', which is no integer"),
        (b"<BlobType>BlockBlob<", b"<BlobType>Blob<", "BlobType is 'Blob', which is none of"),
        (b' ContainerName="judged-list"', b"", "no attribute EnumerationResults/ContainerName"),
    ):
        assert old in got.body
        assert said in complaints("GET", path, Changed(got, body=got.body.replace(old, new)))


def test_errors(daemon):
    got = daemon.blob.call("GET", "/judged-absent/b")
    assert complaints("GET", "/judged-absent/b", got) == ""
    assert "without x-ms-error-code" in complaints("GET", "/judged-absent/b", Changed(got, x_ms_error_code=None))
    assert "without the code Other" in complaints("GET", "/judged-absent/b", Changed(got, x_ms_error_code="Other"))
    assert "no XML" in complaints("GET", "/judged-absent/b", Changed(got, body=b"no"))


def test_every_reply_of_a_plane_is_judged(daemon, monkeypatch):
    monkeypatch.setattr(BLOBS, "operations", [])
    with pytest.raises(AssertionError, match="against the published document"):
        daemon.blob.call("GET", "/?comp=list")
