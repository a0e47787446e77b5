# SPDX-License-Identifier: MIT
"""The Python package with the programs under test in it, as pip installs it."""

import subprocess
import sys

from .daemon import BUILD, ROOT


def install_wheel(source, target):
    """Installs it into the folder `target`; `source` is a folder for what pip takes."""
    make = ["make", "-s", "-o", "all", "wheel-src", f"BUILD={BUILD}", f"WHEEL_SRC={source}"]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True, timeout=300)
    install = ["pip", "install", "-q", "--root-user-action=ignore", "--no-deps", "--no-index", "--no-build-isolation", source]
    subprocess.run([sys.executable, "-m", *install, "--target", target], check=True, timeout=120)
