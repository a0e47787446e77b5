# SPDX-License-Identifier: MIT
"""Output files of Azure Batch's tasks: what is uploaded, when, where to, and what becomes of the task if it cannot be."""

import hashlib
import os
from pathlib import Path

import pytest
from support.batch_store import Store
from support.daemon import Daemon
from support.delegated import delegated
from support.waiting import wait_for


@pytest.fixture(scope="module")
def daemon():
    with Daemon(config={"batch": {"transfer_timeout_s": 2}}) as d:
        yield d


OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1, "taskSlotsPerNode": 4}
OWN_STORE = Store


def output(pattern, url, path=None, when="taskcompletion", **more):
    container = {"containerUrl": url, **({"path": path} if path else {}), **more}
    return {"filePattern": pattern, "destination": {"container": container}, "uploadOptions": {"uploadCondition": when}}


def run(jobs, script, *files, **more):
    job = jobs()
    done = job.done(f"/bin/sh -c '{script}'", id="t", outputFiles=list(files), **more, limit=60)
    return job, done["executionInfo"]


def good(jobs, script, *files, **more):
    job, info = run(jobs, script, *files, **more)
    assert info["result"].lower() == "success" and info["exitCode"] == 0, str(info)
    return job


def failed(jobs, code, script, *files):
    job, info = run(jobs, script, *files)
    assert info["result"].lower() == "failure" and info["failureInfo"]["code"] == code, info
    assert "sig=" not in str(info) and "secret" not in str(info)
    (said,) = (d["value"] for d in info["failureInfo"]["details"] if d["name"] == "Message")
    assert said in job.text("t", "fileuploaderr.txt")
    return info, said


TREE = "mkdir -p d/e; echo a > a.txt; echo b > d/b.txt; echo c > d/e/c.txt; echo h > d/.hidden.txt; echo n > n.bin; echo said"


@pytest.mark.parametrize(
    "pattern, names",
    [
        ("a.txt", {"": "a\n"}),
        ("*.txt", {"a.txt": "a\n"}),
        ("**/*.txt", {"a.txt": "a\n", "d/b.txt": "b\n", "d/e/c.txt": "c\n"}),
        ("d/**/*.txt", {"b.txt": "b\n", "e/c.txt": "c\n"}),
        ("d/.*.txt", {".hidden.txt": "h\n"}),
        ("[!a-m].bin", {"n.bin": "n\n"}),
        ("../std*.txt", {"stdout.txt": "said\n", "stderr.txt": ""}),
        ("$AZ_BATCH_TASK_DIR/stdout.txt", {"": "said\n"}),
    ],
)
def test_what_a_pattern_matches_is_uploaded(jobs, store, pattern, names):
    path = f"p{abs(hash(pattern))}"
    job = good(jobs, TREE, output(pattern, store.url(), path))
    if "" in names:
        assert (store.folder / path).read_text() == names[""]
    else:
        assert store.blobs(path) == names
    assert job.text("t", "fileuploadout.txt").count("\n") == len(names)


@pytest.mark.parametrize("level", ["nonadmin", "admin"])
@pytest.mark.parametrize("scope", ["pool", "task"])
def test_whoever_the_task_runs_as(jobs, store, scope, level):
    identity = {"autoUser": {"scope": scope, "elevationLevel": level}}
    good(jobs, "echo said", output("../std*.txt", store.url(), f"{scope}-{level}"), userIdentity=identity)
    assert store.blobs(f"{scope}-{level}") == {"stdout.txt": "said\n", "stderr.txt": ""}


def test_without_a_path_names_are_those_of_the_files(jobs, store):
    good(jobs, TREE, output("d/e/c.txt", store.url()), output("n*.bin", store.url()))
    assert (store.folder / "c.txt").read_text() == "c\n" and (store.folder / "n.bin").read_text() == "n\n"


@pytest.mark.parametrize("exit_code, names", [(0, {"success", "completion"}), (3, {"failure", "completion"})])
def test_the_condition_says_when(jobs, store, exit_code, names):
    files = [output("x", store.url(), f"when{exit_code}/{w}", f"task{w}") for w in ("success", "failure", "completion")]
    _, info = run(jobs, f"echo x > x; exit {exit_code}", *files)
    assert info["exitCode"] == exit_code
    assert set(store.blobs(f"when{exit_code}")) == names


def test_all_of_it_is_there_when_the_task_is_completed_and_large_files_too(jobs, store):
    good(jobs, "head -c 3000000 /dev/zero > zeros; : > empty", output("*", store.url(), "sizes"))
    assert {p.name: p.stat().st_size for p in (store.folder / "sizes").iterdir()} == {"zeros": 3000000, "empty": 0}


def test_tasks_upload_beside_each_other(jobs, store):
    """While the node reads the next piece of one, the other end takes that of another."""
    job = jobs()
    tasks = [job.add("/bin/sh -c 'head -c 600000 /dev/zero > x'", outputFiles=[output("x", store.url(), f"beside/{i}")])
             for i in range(3)]
    ended = [t["executionInfo"] for t in job.wait(*tasks, limit=60)]
    assert {e["result"] for e in ended} == {"success"}, ended
    assert [p.stat().st_size for p in (store.folder / "beside").iterdir()] == 3 * [600000]


def test_headers_and_another_time(jobs, store, daemon):
    files = output("x.html", store.url(), "kind", uploadHeaders=[{"name": "x-ms-blob-content-type", "value": "text/html"}])
    for text in ("one", "two"):
        good(jobs, f"echo {text} > x.html", files)
        assert (store.folder / "kind").read_text() == f"{text}\n"


@pytest.mark.parametrize(
    "name, value, wrong",
    [
        ("x-ms-meta-a", "a\r\nContent-Length: 0\r\n\r\nDELETE /all HTTP/1.1\r\nX-Rest: b", "value"),
        ("x-ms-meta-a", "a\nb", "value"),
        ("x-ms-meta-a", "a\x7fb", "value"),
        ("x-ms-meta-a: b\r\nX-More", "c", "name"),
        ("x-ms-meta-a:", "b", "name"),
        ("x-ms-meta a", "b", "name"),
        ("x-ms-meta-\u00e4", "b", "name"),
        ("Host", "localhost", "name"),
        ("content-LENGTH", "0", "name"),
        ("Transfer-Encoding", "chunked", "name"),
        ("Connection", "close", "name"),
        ("Expect", "100-continue", "name"),
    ],
)
def test_a_header_that_would_change_the_request_itself_is_refused_with_its_task(jobs, others, name, value, wrong):
    job = jobs()
    headers = [{"name": "x-ms-meta-b", "value": "b"}, {"name": name, "value": value}]
    files = output("x", f"{others.url}/smuggled?secret=1", "x", uploadHeaders=headers)
    body = {"id": "t", "commandLine": "/bin/sh -c 'echo x > x'", "outputFiles": [files]}
    values = job.plane.refused(400, "InvalidPropertyValue", "POST", f"{job.url}/tasks", body)
    assert values["PropertyName"] == f"outputFiles[0].destination.container.uploadHeaders[1].{wrong}"
    (added,) = job.plane.call("POST", f"{job.url}/addtaskcollection", {"value": [body]}, expect=200).json["value"]
    assert added["status"].lower() == "clienterror" and added["error"]["code"] == "InvalidPropertyValue"
    assert job.states() == {}


def test_a_container_of_others(jobs, others):
    good(jobs, "echo x > x; echo y > y", output("[xy]", f"{others.url}/box?secret=1", "to"))
    assert others.files["/box/to/x"] == b"x\n" and others.files["/box/to/y"] == b"y\n"
    puts = [(query, headers) for method, path, query, headers in others.seen if path.startswith("/box/")]
    assert all(query == "secret=1" and h["x-ms-blob-type"] == "BlockBlob" for query, h in puts) and len(puts) == 2


# 75 MB, which is more than one request puts, and their hash.
LARGE = "seq 1 9500000 > x; sha256sum x"


def test_large_files_are_put_in_blocks(jobs, others):
    others.trouble["/large/x"] = [None, 503, None, None, 500, None, None, 503]
    headers = [{"name": "x-ms-meta-made", "value": "here"}]
    job = good(jobs, LARGE, output("x", f"{others.url}/large?secret=1", uploadHeaders=headers))
    assert hashlib.sha256(others.files["/large/x"]).hexdigest() == job.text("t").split()[0]
    puts = [(query, headers) for _, path, query, headers in others.seen if path == "/large/x"]
    assert all(query.startswith("secret=1&comp=block") for query, _ in puts) and not others.blocks
    lists = [(q, h) for q, h in puts if q.endswith("comp=blocklist")]
    assert len(lists) == 2 and all(h["x-ms-meta-made"] == "here" for _, h in lists)
    assert len(puts) == 5 + 2 + 2 and max(int(h["Content-Length"]) for _, h in puts) == 16 << 20


def test_large_files_in_storage_here(jobs, store):
    job = good(jobs, LARGE, output("x", store.url(), "large/x"))
    assert hashlib.sha256((store.folder / "large" / "x").read_bytes()).hexdigest() == job.text("t").split()[0]


def test_whoever_puts_blocks_together_may_take_the_longer_the_more_they_are(jobs, others):
    """Longer than anybody else may be silent (transfer_timeout_s)."""
    others.trouble["/slowly/x"] = [None] * 5 + [3.0]
    good(jobs, LARGE, output("x", f"{others.url}/slowly?secret=1"))
    assert [q for _, path, q, _ in others.seen if path == "/slowly/x" and q.endswith("comp=blocklist")] == ["secret=1&comp=blocklist"]


def test_a_block_that_is_refused(jobs, others):
    others.trouble["/closed/x"] = [None, None, 403]
    _, said = failed(jobs, "FileUploadAccessDenied", LARGE, output("x", f"{others.url}/closed?secret=1"))
    assert "403" in said


@pytest.fixture
def place(tmp_path):
    """Where the file is that is uploaded; its task writes that down."""
    path = tmp_path / "place"
    path.touch()
    path.chmod(0o666)
    return path


def changed_in_the_midst(jobs, others, place, name, change):
    """An upload of LARGE, whose file is changed when its first block has come."""
    others.trouble[f"/{name}/x"] = [lambda: change(Path(place.read_text().strip()) / "x")]
    return run(jobs, f"pwd > {place}; {LARGE}", output("x", f"{others.url}/{name}?secret=1"))


def test_a_file_that_grows_while_it_is_uploaded(jobs, others, place):
    """It is taken as it was when its upload began."""

    def grow(path):
        with path.open("ab") as f:
            f.write(b"more" * 1000)

    job, info = changed_in_the_midst(jobs, others, place, "grows", grow)
    assert info["result"].lower() == "success", info
    assert hashlib.sha256(others.files["/grows/x"]).hexdigest() == job.text("t").split()[0]


def replace(path, more=0):
    """By another file, of the same size or larger."""
    other = path.with_name("other")
    other.write_bytes(b"o" * (path.stat().st_size + more))
    other.chmod(0o644)
    other.replace(path)


def make_anew(path, more):
    """As os.remove() and open("w") do: the file system may give it the number of the old one."""
    size = path.stat().st_size
    path.unlink()
    path.write_bytes(b"o" * (size + more))
    path.chmod(0o644)


@pytest.mark.parametrize(
    "how, why",
    [
        ("shorter", "it has become shorter meanwhile"),
        ("gone", "No such file"),
        ("replaced", "it has been replaced or changed meanwhile"),
        ("replaced-by-more", "it has been replaced or changed meanwhile"),
        ("made-anew-with-more", "it has been replaced or changed meanwhile"),
    ],
)
def test_a_file_that_becomes_another_or_goes_away_while_it_is_uploaded(jobs, others, place, how, why):
    change = {
        "shorter": lambda path: os.truncate(path, 20 << 20),
        "gone": Path.unlink,
        "replaced": replace,
        "replaced-by-more": lambda path: replace(path, 1 << 20),
        "made-anew-with-more": lambda path: make_anew(path, 1 << 20),
    }[how]
    job, info = changed_in_the_midst(jobs, others, place, how, change)
    assert info["result"].lower() == "failure" and info["failureInfo"]["code"] == "FileUploadMiscError", info
    assert f"x: {why}" in job.text("t", "fileuploaderr.txt") and f"/{how}/x" not in others.files


def test_a_passing_trouble_is_outlived(jobs, others):
    others.trouble["/busy/x"] = [503, 500]
    good(jobs, "echo x > x", output("x", f"{others.url}/busy"))
    assert others.files["/busy/x"] == b"x\n"


def test_the_identity_of_the_account_writes_to_its_auto_storage(jobs, store):
    identity = {"resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}
    good(jobs, "echo x > x", output("x", store.url(signed=False), "by-identity", identityReference=identity))
    assert (store.folder / "by-identity").read_text() == "x\n"
    _, said = failed(
        jobs, "FileUploadAccessDenied", "echo x > x",
        output("x", store.url(account=store.other, signed=False), "x", identityReference=identity),
    )  # fmt: skip
    assert "auto-storage" in said


def test_a_login_has_signed_where_it_goes_also_without_the_keys(jobs, store, daemon):
    url = store.url(signed=False)
    keys = lambda on: store.accounts.call("PATCH", f"/{store.account}", {"properties": {"allowSharedKeyAccess": on}}, expect=200)
    identity = {"resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}
    signed = store.url()
    keys(False)
    by = delegated(daemon, store.account, "out", write=True, create=True)
    good(jobs, "echo x > x", output("x", f"{url}?{by}", "by-login"))
    assert (store.folder / "by-login").read_text() == "x\n"
    _, said = failed(jobs, "FileUploadAccessDenied", "echo x > x", output("x", url, "no", identityReference=identity))
    assert f"account {store.account} does not allow access with its keys (allowSharedKeyAccess)" in said
    failed(jobs, "FileUploadAccessDenied", "echo x > x", output("x", signed, "no"))
    assert not (store.folder / "no").exists()
    keys(True)


# --- what cannot be -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["nothing.txt", "*.nothing", "none/*.txt", "none/x.txt"])
def test_a_pattern_that_matches_nothing_is_no_failure(jobs, store, pattern):
    job = good(jobs, "true", output(pattern, store.url(), "nothing"))
    assert "no" in job.text("t", "fileuploadout.txt")


@pytest.mark.parametrize(
    "pattern", ["/etc/passwd", "../../../../../../../etc/passwd", "/etc/*", "*/../../../../../x", "$AZ_BATCH_NODE_ROOT_DIR/../x"]
)
def test_no_pattern_leads_out(jobs, store, pattern):
    _, said = failed(jobs, "FileUploadMiscError", "true", output(pattern, store.url(), "out"))
    assert "leads out" in said


def test_no_link_leads_out(jobs, store):
    _, info = run(jobs, "ln -s /etc/passwd p.txt; ln -s /etc d; echo x > x.txt", output("**/*", store.url(), "links"))
    assert set(store.blobs("links")) == {"x.txt"}
    failed(jobs, "FileUploadMiscError", "ln -s /etc/passwd p.txt", output("p.txt", store.url(), "link"))
    assert not (store.folder / "link").exists()


def test_a_failure_of_the_whole_pattern_names_no_file_that_was_found(jobs, store):
    _, said = failed(jobs, "FileUploadMiscError", "echo a > a.txt; mkdir -m 0 closed", output("**/*.txt", store.url()))
    assert "closed: Permission denied" in said and "a.txt" not in said


def test_a_directory_with_more_entries_than_a_list_has_is_a_failure(jobs, store):
    """The list may lack files that match, so the task may not succeed without them."""
    script = "echo a > a.out; seq -f x%06g 100100 | xargs touch; echo z > z.out"
    _, said = failed(jobs, "FileUploadMiscError", script, output("*.out", store.url(), "cut"))
    assert "more than 100000 entries" in said and not (store.folder / "cut").exists()


def test_files_whose_names_no_blob_can_have_are_counted(jobs, store):
    script = 'echo a > a.out; mkdir d; : > "$(printf "caf\\351.out")"; : > "d/$(printf "\\377")"'
    job = good(jobs, script, output("**/*.out", store.url(), "named"))
    assert store.blobs("named") == {"a.out": "a\n"}
    assert ": 2 entries are left out, because their names are not UTF-8\n" in job.text("t", "fileuploadout.txt")


def test_a_variable_that_is_not_set(jobs, store):
    job, info = run(jobs, "true", output("$NO_SUCH/x", store.url()))
    assert info["failureInfo"]["code"] == "FileUploadMiscError" and "NO_SUCH" in str(info)


@pytest.mark.parametrize(
    "where, code",
    [
        ({"container": "none"}, "FileUploadContainerNotFound"),
        ({"signed": False}, "FileUploadAccessDenied"),
        ({"read": True}, "FileUploadAccessDenied"),
        ({"hours": -1}, "FileUploadAccessDenied"),
    ],
    ids=str,
)
def test_a_container_of_ours_that_cannot_be_written(jobs, store, where, code):
    info, said = failed(jobs, code, "echo x > x", output("x", store.url(**where), "refused"))
    assert info["exitCode"] == 0 and info["failureInfo"]["category"] == "UserError"
    assert ".blob.core.localhost/" in said


def test_an_account_that_is_not_there(jobs):
    _, said = failed(jobs, "FileUploadContainerNotFound", "echo x > x", output("x", "https://nosuch.blob.core.localhost/c?sig=x"))
    assert "no storage account nosuch" in said


@pytest.mark.parametrize(
    "trouble, code, says",
    [(404, "FileUploadContainerNotFound", "404 (ContainerNotFound)"), (403, "FileUploadAccessDenied", "403"),
     (409, "FileUploadMiscError", "409"), ("hang", "FileUploadMiscError", "within 2 seconds")],
)  # fmt: skip
def test_others_that_refuse(jobs, others, trouble, code, says):
    others.trouble["/bad/x"] = trouble
    _, said = failed(jobs, code, "head -c 2000000 /dev/zero > x", output("x", f"{others.url}/bad?secret=1"))
    assert says in said and f"{others.url}/bad" in said


def test_a_host_that_is_not_there(jobs):
    _, said = failed(jobs, "FileUploadMiscError", "echo x > x", output("x", "http://nowhere.invalid/x?secret=1"))
    assert "nowhere.invalid" in said


def test_what_a_task_that_failed_leaves(jobs, store):
    """The upload's failure is told, the exit code stays, and an exit condition speaks of it."""
    info, _ = failed(jobs, "FileUploadContainerNotFound", "echo x > x; exit 4", output("x", store.url("none")))
    assert info["exitCode"] == 4


def test_an_exit_condition_for_uploads(jobs, store):
    conditions = {"fileUploadError": {"jobAction": "terminate"}}
    job = jobs(onTaskFailure="performexitoptionsjobaction")
    job.done("/bin/sh -c 'echo x > x'", id="t", exitConditions=conditions, outputFiles=[output("x", store.url("none"))])
    job.wait_state("completed")
    assert job.get()["executionInfo"]["terminateReason"] == "TaskFailed"


def test_an_upload_that_hangs_ends_with_its_task(jobs, others):
    others.trouble["/slow/x"] = "hang"
    job = jobs()
    job.add("/bin/sh -c 'echo x > x'", id="t", outputFiles=[output("x", f"{others.url}/slow")])
    wait_for(lambda: any(path == "/slow/x" for _, path, _, _ in others.seen), what="the upload has begun")
    assert job.task("t")["state"] == "running"
    assert job.end("t")["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


def test_each_try_leaves_its_files(jobs, store):
    script = 'n=$(cat ../../n 2>/dev/null | wc -l); echo x >> ../../n; echo $n > out; exit $((n < 1))'
    job = jobs()
    job.add(f"/bin/sh -c '{script}'", id="t", constraints={"maxTaskRetryCount": 2},
            outputFiles=[output("out", store.url(), "try/failed", "taskfailure"), output("out", store.url(), "try/good", "tasksuccess")])  # fmt: skip
    (done,) = job.wait("t")
    assert done["executionInfo"]["retryCount"] == 1 and done["executionInfo"]["exitCode"] == 0
    assert store.blobs("try") == {"failed": "0\n", "good": "1\n"}
