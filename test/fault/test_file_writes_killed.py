# SPDX-License-Identifier: MIT
"""kill -9 before each call by which a file of a share is made anew: after the restart it is what it was, or what it was
to become, with its notes, and whoever asks is told the same."""

import pytest
from support.storage import StorageDaemon

SAID = ("Content-Length", "Content-Type", "x-ms-meta-v", "x-ms-file-attributes", "x-ms-file-creation-time")
SAID += ("x-ms-file-last-write-time", "Content-MD5", "x-ms-copy-status")
WHEN = "2020-01-0{}T00:00:00.0000000Z"


@pytest.fixture
def d(killer):
    with StorageDaemon(environment=killer.environment) as d:
        d.expect_log(r"journal\.")  # it says what it brought to an end
        done(d, ("PUT", "/box?restype=share", {}))
        yield d


def done(d, request):
    method, path, headers = request
    answer = d.file.call(method, path, **headers)
    assert answer.status in (201, 202), answer


def noted(version):
    return {
        "x_ms_meta_v": str(version),
        "x_ms_content_type": f"text/v{version}",
        "x_ms_file_attributes": ("Hidden", "ReadOnly", "System")[version],
        "x_ms_file_creation_time": WHEN.format(version + 1),
        "x_ms_file_last_write_time": WHEN.format(version + 2),
        "x_ms_file_permission": "inherit",
    }


def made(version, size=1000, **notes):
    return lambda name: (
        "PUT",
        f"/box/{name}",
        {"x_ms_type": "file", "x_ms_content_length": str(size), "x_ms_file_last_write_time": WHEN.format(version + 2), **notes},
    )


def copied(d, **headers):
    return lambda name: ("PUT", f"/box/{name}", {"x_ms_copy_source": f"{d.file.url}/box/source", **headers})


def state(d, name):
    got, head = d.file.call("GET", f"/box/{name}"), d.file.call("HEAD", f"/box/{name}")
    assert got.status == head.status, (got, head)
    if got.status == 404:
        return None
    said = {key: got.headers[key] for key in SAID}
    assert said == {key: head.headers[key] for key in SAID}
    if not said["x-ms-file-creation-time"].startswith("2020"):
        del said["x-ms-file-creation-time"]  # nobody gave it one
    return tuple(said.items()), len(got.body)


def killed_at_each_step(d, killer, before, change):
    def fresh(n):
        for step in before:
            done(d, step(f"f{n}"))
        return f"f{n}"

    def others(name):
        done(d, made(1, 7)(name))
        assert d.file.call("GET", f"/box/{name}").headers["Content-Length"] == "7"

    killer.kill_at_each_step(d, fresh, lambda name: done(d, change(name)), lambda name: state(d, name), others)


def test_a_file_that_is_made(d, killer):
    killed_at_each_step(d, killer, [], made(2, **noted(2)))


def test_a_file_that_is_made_over_another(d, killer):
    killed_at_each_step(d, killer, [made(1, 500, **noted(1))], made(2, **noted(2)))


def test_a_file_with_notes_that_is_made_anew_without(d, killer):
    killed_at_each_step(d, killer, [made(1, 500, **noted(1))], made(2))


@pytest.mark.parametrize("over", [False, True])
def test_a_copy(d, killer, over):
    done(d, made(2, 100_000, **noted(2))("source"))
    before = [made(1, 500, **noted(1))] if over else []
    when = {"x_ms_file_creation_time": "source", "x_ms_file_last_write_time": "source"}
    killed_at_each_step(d, killer, before, copied(d, x_ms_file_permission_copy_mode="source", **when))
