# SPDX-License-Identifier: MIT
"""The disk is full: writes are refused with a clear error, what was acknowledged stays, and once there
is room again everything goes on."""

from support.world import Place

# No file may grow beyond this; writing on fails as on a full disk would.
LIMIT_KIB = 1024
SMALL_DISK = ["bash", "-c", f"trap '' XFSZ; ulimit -f {LIMIT_KIB}; exec \"$@\"", "bash"]


def test_writes_are_refused_and_nothing_acknowledged_is_lost(own_daemon):
    d = own_daemon(prefix=SMALL_DISK)
    d.expect_log(r"db\.|storage|request")
    place = Place(d).make()
    place.experiment("first")
    tags = {f"tag{i}": "x" * 200 for i in range(50)}
    acknowledged, refusal = set(), None
    for i in range(600):
        path = f"{place.path}-{i}"
        reply = d.call("PUT", path, {"location": "eastus", "tags": tags}, validate=False)
        if reply.status != 200:
            refusal = reply
            break
        acknowledged.add(f"{place.workspace}-{i}")
    assert refusal is not None and refusal.status in (500, 503, 507), "the disk never filled up"
    assert refusal.error["code"] and refusal.error["message"]
    assert len(acknowledged) > 3

    def names():
        listed = d.get(f"{place.group_path}/providers/Microsoft.BatchAI/workspaces")["value"]
        return {w["name"] for w in listed}

    assert names() == acknowledged | {place.workspace}, "reading works, and shows what was acknowledged"
    d.prefix = []
    d.restart()
    assert names() == acknowledged | {place.workspace}
    assert d.call("PUT", refusal.url, {"location": "eastus"}).status == 200
