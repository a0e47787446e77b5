# SPDX-License-Identifier: MIT
"""`batchaid`, `python -m batchaid`: the program of this package with the same arguments."""

import os
import sys

from .cloud import OWN, refused_by_system


def main() -> None:
    """Becomes the program; ends with a message where that cannot be."""
    if not OWN.exists():
        sys.exit("batchaid: this package was installed without its program: install the wheel that `make wheel` makes")
    try:
        os.execv(OWN, ["batchaid", *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"batchaid: {refused_by_system(str(OWN), e)}")


if __name__ == "__main__":
    main()
