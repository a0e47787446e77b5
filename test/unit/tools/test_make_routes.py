# SPDX-License-Identifier: MIT
"""test/tools/make_routes.py: the tables of routes declare their handlers."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

TABLE = """/* SPDX-License-Identifier: MIT */
static struct replied *page(struct request *r);
static const struct route routes[] = {
    /* {"GET", "/old", 0, 0, old_get, "Old_Get"}, */
    {"GET", "/cells", 0, 0, cells_list, "Cells_List"},
    {"PUT", CELL, V1 | V2, ROUTE_JSON, rm_put, "Cells_Create",
     &cell_kind},
    {"GET", CELL, 0, 0, rm_get, "Cells_Get", &cell_kind},
    {"GET", "/", 0, 0, page, "Page_Get"},
};
#define ROWS(X)                          \\
    X("POST", CELL "?comp=batch", 0,     \\
      cells_batch, "Cells_Batch", 's')   \\
"""


def make(tmp_path, table):
    (tmp_path / "api/cells").mkdir(parents=True, exist_ok=True)
    (tmp_path / "api/cells/service.c").write_text(table)
    subprocess.run([sys.executable, ROOT / "test/tools/make_routes.py", "gen", "api/cells/service.c"], cwd=tmp_path,
                   check=True)
    return tmp_path / "gen/api/cells/routes.h"


def test_each_handler_and_kind_is_declared_once(tmp_path):
    lines = make(tmp_path, TABLE).read_text().splitlines()
    assert [line for line in lines if line.endswith(";") and "(" in line or line.startswith("extern")] == [
        "struct replied *cells_list(struct request *r);", "struct replied *cells_batch(struct request *r);",
        "extern const struct rm_kind cell_kind;"]


def test_a_header_that_would_be_the_same_is_not_written_anew(tmp_path):
    made = make(tmp_path, TABLE)
    before = made.stat().st_mtime_ns
    assert make(tmp_path, TABLE).stat().st_mtime_ns == before
    assert "cells_get" in make(tmp_path, TABLE.replace("cells_list", "cells_get")).read_text()
