#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Subjects of commits since a base commit: `room: verb object`, at most 72 characters.

    check_subjects.py [ROOT]     lists the subjects that break the rule; exit code 1 if there are any
    check_subjects.py --message FILE     checks the first line of FILE, as a commit-msg hook calls it

A room is a folder of the tree, by its path or by the last part of the path; several rooms are separated by commas.
A clone that does not have the base commit (a shallow clone, an archive) is skipped.
"""
import re
import subprocess
import sys
from pathlib import Path

# The rule holds for the commits after this one. A history that was written again has the same subject.
BASE = "b3e92a052f03"
BASE_SUBJECT = "house: part the tree into eleven folders, one way for each thing"
LIMIT = 72
# Words besides the folders: the whole tree, files at its top, and concerns of all rooms.
WORDS = {"build", "check", "house", "log", "readme", "release", "tests"}
SUBJECT = re.compile(r"([^\s:][^:]*): ([a-z][\w'-]*) (\S.*)")


def git(root, *arguments):
    """Standard output, or None if git is not there or fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def rooms_of(paths):
    """Each folder of the paths, by its path and by its name."""
    folders = {"/".join(parts[:n]) for path in paths for parts in [path.split("/")] for n in range(1, len(parts))}
    return folders | {folder.rsplit("/", 1)[-1] for folder in folders} | WORDS


def complaint(subject, known):
    """What is wrong with a subject, or None."""
    if len(subject) > LIMIT:
        return f"has {len(subject)} characters; {LIMIT} are the limit"
    match = SUBJECT.fullmatch(subject)
    if not match:
        return "is not of the form 'room: verb object'"
    wrong = [room for room in re.split(r", *", match[1]) if room not in known]
    if wrong:
        return f"names '{wrong[0]}', which is not a folder of the tree or one of {', '.join(sorted(WORDS))}"
    return "ends with a full stop" if subject.endswith(".") else None


def base(root):
    if git(root, "merge-base", "--is-ancestor", BASE, "HEAD") is not None:
        return BASE
    found = [line.split(" ", 1) for line in (git(root, "log", "--format=%H %s") or "").splitlines()]
    return next((commit for commit, subject in found if subject == BASE_SUBJECT), None)


def known_rooms(root):
    """Of the tree as it is, and of the trees between: a room may have been moved since."""
    past = git(root, "log", "--format=", "--name-only", f"{base(root)}..HEAD") if base(root) else ""
    return rooms_of(((git(root, "ls-files") or "") + (past or "")).splitlines())


def main(root):
    start = base(root)
    if not start:
        print(f"check-subjects: skipped: this tree does not have the commit {BASE}")
        return 0
    known = known_rooms(root)
    commits = (git(root, "log", "--no-merges", "--format=%h %s", f"{start}..HEAD") or "").splitlines()
    wrong = [f"{commit}: '{subject}' {why}" for commit, subject in (line.split(" ", 1) for line in commits)
             if (why := complaint(subject, known))]
    print("\n".join(wrong) if wrong else f"check-subjects: ok ({len(commits)} commits)")
    return 1 if wrong else 0


def message(file):
    subject = (Path(file).read_text().splitlines() or [""])[0]
    why = complaint(subject, known_rooms("."))
    if why:
        print(f"'{subject}' {why}", file=sys.stderr)
    return 1 if why else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--message"]:
        sys.exit(message(sys.argv[2]))
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
