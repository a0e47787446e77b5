# SPDX-License-Identifier: MIT
"""Files that change while `batchaid submit` copies them, or `batchaid get`: the copy is refused, or whole and what changed is named."""
import os
import subprocess
import threading

import pytest
from support.testing import Strict, testing_daemon
from support.waiting import wait_for
from test_daemon_submit import Desk

MIB = 1 << 20


@pytest.fixture(scope="module")
def tested():
    with testing_daemon() as d:
        yield d


class Slow(Desk):
    """Copies are held: `at` the beginning, when the folder was listed and no file opened, or after the first piece."""

    def __init__(self, daemon, folder):
        super().__init__(daemon, folder)
        self.t = Strict(daemon)
        self.write("other", "as it was\n")
        self.write("part/deep", "deep\n")

    def submit_while(self, change, at="File_Create", command="cat file"):
        """What `submit` has printed, when `change` was called in the midst of its copy."""
        before = self.t.last()
        done = self.run_while(change, at, "submit", "--", command)
        self.made = [r["path"].rsplit("/", 1)[1] for r in self.t.requests(after=before, operation="Jobs_Create")]
        self.copies = {operation: len(self.t.requests(after=before, operation=operation)) for operation in ("File_Create", "File_Delete")}
        return done

    def run_while(self, change, at, *arguments):
        fault = self.t.fault({"operation": at}, hold=True)["id"]
        done = []
        thread = threading.Thread(target=lambda: done.append(self.run(*arguments, check=False)))
        thread.start()
        wait_for(lambda: [f["held"] for f in self.t.get("/faults")["value"]] == [1], 30, "the copy to be held")
        change()
        self.t.call("POST", f"/faults/{fault}/release", expect=200)
        thread.join()
        self.t.forget()
        return done[0]

    def output(self, done):
        assert done.returncode == 0, done.stderr
        rows = self.daemon.get("/batchaid/jobs", api_version=None)["value"]
        (row,) = [row for row in rows if row["name"] == done.stdout.strip()]
        return self.job(row).succeeded().read("stdout.txt")

    def is_refused(self, done, why):
        """Nothing is there of it: neither a job nor a part of a copy."""
        assert done.returncode == 1 and done.stdout == "" and "nothing was submitted" in done.stderr, done.stderr
        assert why in done.stderr and self.made == [] and self.copies == {"File_Create": 1, "File_Delete": 1}


@pytest.fixture
def desk(tested, tmp_path):
    made = Slow(tested, tmp_path / "project")
    yield made
    made.t.forget()


def warned(done):
    return [line for line in done.stderr.splitlines() if "warning" in line]


def test_a_file_that_grows(desk):
    file = desk.write("file", "one\n")
    done = desk.submit_while(lambda: file.write_text("one\ntwo\n"), command="cat file other part/deep")
    assert desk.output(done) == "one\nas it was\ndeep\n"
    assert warned(done) == ["batchaid: warning: file changed while it was copied; the copy may be half old, half new"]


def test_a_file_that_becomes_shorter(desk):
    file = desk.write("file", "one\ntwo\n")
    done = desk.submit_while(lambda: os.truncate(file, 2), command="tr '\\0' z <file; cat other part/deep")
    assert desk.output(done) == "onzzzzzzas it was\ndeep\n"
    assert warned(done) == ["batchaid: warning: file became shorter while it was copied; the copy ends with zeros"]


def test_a_large_file_that_is_cut_after_its_first_piece(desk):
    file = desk.write("file", "x" * (10 * MIB))
    done = desk.submit_while(lambda: os.truncate(file, MIB), at="File_UploadRange", command="tr -d '\\0' <file | wc -c; wc -c <file; cat other")
    kept, size, other = desk.output(done).splitlines()
    assert int(size) == 10 * MIB and 0 < int(kept) < 5 * MIB and other == "as it was"
    assert [line for line in warned(done) if "became shorter" in line]


def test_a_file_that_is_replaced(desk):
    desk.write("file", "old\n")
    new = desk.write("../new", "new\n")
    os.utime(new, (1, 1))
    done = desk.submit_while(lambda: new.rename(desk.folder / "file"))
    assert desk.output(done) == "new\n" and "file changed while it was copied" in warned(done)[0]


def test_a_file_that_comes_is_not_in_the_copy(desk):
    done = desk.submit_while(lambda: desk.write("late"), command="ls")
    assert desk.output(done) == "other\npart\n" and warned(done) == []


def replace_by(desk, kind):
    path = desk.folder / "file"
    path.unlink()
    {"nothing": lambda: None, "a folder": path.mkdir, "a FIFO": lambda: os.mkfifo(path), "a link": lambda: path.symlink_to("other"),
     "a link to itself": lambda: path.symlink_to("file")}[kind]()  # fmt: skip


@pytest.mark.parametrize("kind, why", [
    ("nothing", "it cannot be opened: No such file"),
    ("a folder", "it is not a file any more"),
    ("a FIFO", "it is not a file any more"),
    ("a link", "it cannot be opened: "),
    ("a link to itself", "it cannot be opened: "),
])  # fmt: skip
def test_a_file_that_is_no_file_any_more(desk, kind, why):
    """A FIFO holds nothing up, and no link is followed."""
    desk.write("file", "one\n")
    desk.is_refused(desk.submit_while(lambda: replace_by(desk, kind)), f"file: {why}")


def test_a_folder_that_goes_away(desk):
    done = desk.submit_while(lambda: subprocess.run(["rm", "-r", desk.folder / "part"], check=True))
    desk.is_refused(done, "part/deep: it cannot be opened: No such file")


# --- get --------------------------------------------------------------------------------------------


@pytest.fixture
def written(desk):
    """A job that wrote the files a, b and c, and the place of these."""
    said, job = desk.submit("--name", "writes", "--no-copy", "--", "echo 1 >a; echo 2 >b; echo 3 >c")
    job.succeeded()
    (a,) = (desk.daemon.state_dir / "storage").rglob("writes/*/outputs/folder/a")
    yield desk, a.parent
    job.delete()
    a.unlink(missing_ok=True)


def test_get_of_a_file_that_goes_away(written):
    """The others are fetched."""
    desk, folder = written
    done = desk.run_while((folder / "a").unlink, "JobFiles_Get", "get", "writes")
    assert done.returncode == 1 and sorted(done.stdout.split()) == ["writes/b", "writes/c"], done.stderr
    assert "/a" in done.stderr and not (desk.folder / "writes/a").exists()


def test_get_of_a_file_that_becomes_shorter_or_grows(written):
    """It is taken as it is when its turn comes."""
    desk, folder = written
    done = desk.run_while(lambda: [os.truncate(folder / "a", 0), (folder / "b").write_text("two\n")], "JobFiles_Get", "get", "writes")
    assert done.returncode == 0, done.stderr
    assert [(desk.folder / "writes" / name).read_text() for name in "abc"] == ["", "two\n", "3\n"]


def test_get_of_a_file_that_ends_early(written):
    """As when it becomes shorter while it is sent: what was there before stays."""
    desk, _ = written
    desk.write("writes/a", "kept\n")
    desk.t.fault({"operation": "JobFiles_Get"}, cut="after")
    done = desk.run("get", "writes", check=False)
    assert done.returncode == 1 and "writes/a was not fetched, and is as it was" in done.stderr
    assert [(path.name, path.read_text()) for path in (desk.folder / "writes").iterdir()] == [("a", "kept\n")]
