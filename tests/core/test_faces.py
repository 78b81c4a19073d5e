"""A module that the face of its package imports must not import from that face.

The face of a package, its `__init__`, is for those outside. Such a pair of imports makes a circle.
"""

import ast

from core.io.home import ROOT


def circles(folder):
    """Imports that make a circle with the face of a package.

    They stand at the top of a module, from the face of a package that it is in, where that face
    imports this module.
    """
    for file in sorted(folder.rglob("*.py")):
        module = ".".join(file.relative_to(folder.parent).with_suffix("").parts)
        for statement in (
            ast.parse(file.read_text("utf-8")).body if file.name != "__init__.py" else ()
        ):
            if isinstance(statement, ast.ImportFrom) and module.startswith(f"{statement.module}."):
                face = folder.parent.joinpath(*statement.module.split("."), "__init__.py")
                if face.exists() and f"\nfrom {module} import" in f"\n{face.read_text('utf-8')}":
                    yield f"{file.relative_to(folder.parent)}:{statement.lineno}"


def test_modules_that_a_face_imports_do_not_import_from_it():
    assert list(circles(ROOT / "core")) == []


def test_a_circle_is_found(tmp_path):
    (tmp_path / "core" / "corpus").mkdir(parents=True)
    (tmp_path / "core" / "corpus" / "__init__.py").write_text(
        "from core.corpus.stored import put\n"
    )
    (tmp_path / "core" / "corpus" / "stored.py").write_text(
        "import core.corpus.links as links\nfrom core.corpus import links\n"
    )
    # which the face does not import
    (tmp_path / "core" / "corpus" / "links.py").write_text("from core.corpus import put\n")
    assert list(circles(tmp_path / "core")) == ["core/corpus/stored.py:2"]
