# SPDX-License-Identifier: MIT
"""Each public name of the Python package says in its docstring what it is: editors show that."""
import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "etc/wheel/batchaid").glob("*.py"))
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def is_overload(node):
    """The function itself, which comes after its overloads, has the docstring of all."""
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in getattr(node, "decorator_list", ()))


def undocumented(node, name):
    """The names of the node and of what is public in it that have none. What is inside of functions is not public."""
    if not is_overload(node) and not (ast.get_docstring(node) or "").strip():
        yield name
    if isinstance(node, (ast.Module, ast.ClassDef)):
        for inner in node.body:
            if isinstance(inner, DEFINITIONS) and not inner.name.startswith("_"):
                yield from undocumented(inner, f"{name}.{inner.name}")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_public_names_have_docstrings(file):
    assert list(undocumented(ast.parse(file.read_text()), file.stem)) == []


def test_a_name_without_a_docstring_is_found():
    text = '"""M."""\nclass C:\n    "C."\n    def f(self): pass\n    def _g(self): pass\ndef h():\n    " "\n    def i(): pass\n'
    assert list(undocumented(ast.parse(text), "m")) == ["m.C.f", "m.h"]
