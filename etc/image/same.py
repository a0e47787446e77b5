#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rewrites an image of `podman save --format docker-archive`, so that its bytes depend on its content alone.

    same.py ARCHIVE OUT     SOURCE_DATE_EPOCH is the time of all files

podman writes into the configuration the container in which it built the image, and the images of the steps before: their
ids are others each time. Of the files only those stay that `docker load` and `podman load` read.
"""

import hashlib
import io
import json
import os
import sys
import tarfile


def without_the_build(text):
    config = json.loads(text)
    for name in ("container", "container_config", "parent"):
        config.pop(name, None)
    config["config"].pop("Hostname", None)
    for step in config["history"]:
        step.pop("comment", None)
    return json.dumps(config, sort_keys=True).encode()


def main(source, target):
    with tarfile.open(source) as archive:
        read = lambda name: archive.extractfile(name).read()
        (image,) = json.loads(read("manifest.json"))
        config = without_the_build(read(image["Config"]))
        files = [(name, read(name)) for name in image["Layers"]]
    image["Config"] = hashlib.sha256(config).hexdigest() + ".json"
    files += [(image["Config"], config), ("manifest.json", json.dumps([image], sort_keys=True).encode())]
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), 0o644, int(os.environ["SOURCE_DATE_EPOCH"])
            archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main(*sys.argv[1:])
