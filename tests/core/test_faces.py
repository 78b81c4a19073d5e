"""The face of a package, its `__init__`, is for those outside: a module inside that took a name from it would import itself in a circle."""

import ast

from core.io.home import ROOT


def inside_by_face(folder):
    """The imports at the top of modules from the face of a package that they are in, where that face imports from it."""
    for file in sorted(folder.rglob("*.py")):
        around = {".".join(part.relative_to(folder.parent).parts): part for part in file.parents if part.is_relative_to(folder)}
        for statement in ast.parse(file.read_text("utf-8")).body if file.name != "__init__.py" else ():
            if isinstance(statement, ast.ImportFrom) and statement.module in around:
                face = around[statement.module] / "__init__.py"
                if face.exists() and f"\nfrom {statement.module}." in f"\n{face.read_text('utf-8')}":
                    yield f"{file.relative_to(folder.parent)}:{statement.lineno}"


def test_modules_inside_a_package_import_by_full_path():
    assert list(inside_by_face(ROOT / "core")) == []


def test_an_import_by_the_face_is_found(tmp_path):
    (tmp_path / "core" / "corpus").mkdir(parents=True)
    (tmp_path / "core" / "corpus" / "__init__.py").write_text("from core.corpus.stored import put\n")
    (tmp_path / "core" / "corpus" / "stored.py").write_text("from core.corpus import put\nimport core.corpus.links as links\n")
    assert list(inside_by_face(tmp_path / "core")) == ["core/corpus/stored.py:1"]
