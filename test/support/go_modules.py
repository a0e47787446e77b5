# SPDX-License-Identifier: MIT
"""Programs in Go and the modules they use, from the module proxy. go.sum says what these hold."""

import subprocess

from .clients import install, needs
from .daemon import BUILD
from .packages import caller_environment


def go_home(name):
    return BUILD / "clients" / name


def go_environment(home):
    """The module cache is writable so that `make clean` can remove it; no other toolchain is fetched."""
    return {"GOMODCACHE": str(home / "mod"), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"}


def go_programs(name, source):
    """The folder of the programs compiled from the module in `source`."""
    needs("go")
    home = go_home(name)
    env = go_environment(home)
    install(f"the modules of {name}", ["go", "mod", "download"], home=home, files=[source / "go.mod", source / "go.sum"], env=env)
    (home / "bin").mkdir(exist_ok=True)
    env = {**caller_environment(), **env, "GOPROXY": "off", "GOCACHE": str(home / "cache")}
    build = ["go", "build", "-o", f"{home}/bin/", "./..."]
    done = subprocess.run(build, cwd=source, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return home / "bin"


def go_command(module, package, name, limit):
    """A program of a published module, which is built as its own main module: unlike `go install` this permits a
    go.mod that replaces modules. The module cache stays, because such a module has many others."""
    needs("go")
    build = f"""
set -e
go mod download {module}
rm -rf source
cp -r "$(go env GOMODCACHE)/{module}" source
chmod -R u+w source
cd source
nice go build -buildvcs=false -trimpath -ldflags "-s -w" -o ../{name} {package}
cd ..
rm -rf source
"""
    return install(f"{name}", ["bash", "-c", build], env={"GOTOOLCHAIN": "local"}, limit=limit) / name
