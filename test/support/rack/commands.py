# SPDX-License-Identifier: MIT
import subprocess


class CommandFailed(Exception):
    pass


def command(*argv):
    """Runs a program; returns what it printed."""
    argv = [str(a) for a in argv]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(argv)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def make_key(path, keep=False):
    """A new private key, as text; with `keep` also as the files `path` and `path`.pub."""
    for file in (path, path.with_suffix(".pub")):
        file.unlink(missing_ok=True)
    command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", path)
    text = path.read_text()
    if not keep:
        path.unlink()
        path.with_suffix(".pub").unlink()
    return text
