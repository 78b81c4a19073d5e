"""The pages of the documents' site that are not pages of `docs`: three files of the root, notebooks, the Python interface, linked files.

MkDocs runs `on_files` before it reads the pages (`hooks` in mkdocs.yml). All of it is made of the checkout's own files, so that nothing is
written twice, and links of the checkout become links of the site.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[2]
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
PICTURES = {".png", ".svg", ".webp"}
ELSEWHERE = r"""((?:https?:)?//[^"'\s>)]+)"""
ASSET = re.compile(
    rf"""<(?:script|link|img|iframe|source|embed)\b[^>]*?\b(?:src|href)=["']?{ELSEWHERE}|url\(["']?{ELSEWHERE}|@import\s+["']{ELSEWHERE}"""
)
DAY = re.compile(r"(!\[[^]]*\]\()([^)#]*static/gallery/[^)#]*)\.webp\)")
LINK = re.compile(r"(\]\()(?!https?://|mailto:|#)([^)#\s]+)")


def site_path(file: str) -> str:
    """Where the site has a file of the checkout, both as paths below the root: a page, a picture, or a page that shows the file's text.

    >>> site_path("docs/walks.md"), site_path("README.md"), site_path("docs/notebooks/own-documents.ipynb"), site_path("core/io/plain_data.py")
    ('walks.md', 'index.md', 'notebooks/own-documents.md', 'files/core/io/plain_data.py.md')
    """
    path = PurePosixPath(file)
    if file in MOVED:
        return MOVED[file]
    if path.parts[0] == "docs":
        inside = path.relative_to("docs")
        return str(inside.with_suffix(".md") if path.suffix == ".ipynb" else inside)
    return file if path.suffix in PICTURES else f"files/{file}.md"


def linked(text: str, file: str) -> list[str]:
    """The files of the checkout to which a page's text links, as paths below the root."""
    folder = PurePosixPath(file).parent
    return [os.path.normpath(folder / target) for _, target in LINK.findall(text)]


def rewritten(text: str, file: str) -> str:
    """A page's text with its links as they are in the site.

    >>> rewritten("[Walks](docs/walks.md#speed)", "README.md")
    '[Walks](walks.md#speed)'
    >>> rewritten("[its rows](../core/io/plain_data.py)", "docs/formats.md")
    '[its rows](files/core/io/plain_data.py.md)'
    """
    folder, here = PurePosixPath(file).parent, PurePosixPath(site_path(file)).parent
    return LINK.sub(
        lambda found: (
            found[1] + os.path.relpath(site_path(os.path.normpath(folder / found[2])), here)
        ),
        text,
    )


def texts(root: Path = ROOT) -> dict[str, str]:
    """The pages that are written in the checkout, by path: three of its root, and those of `docs`."""
    return {
        file: (root / file).read_text("utf-8")
        for file in [*MOVED, *sorted(f"docs/{page.name}" for page in (root / "docs").glob("*.md"))]
    }


def shown(file: str, root: Path = ROOT) -> str:
    """The page that shows a file of the checkout."""
    return (
        f"# {file}\n\n```{PurePosixPath(file).suffix[1:]}\n{(root / file).read_text('utf-8')}```\n"
    )


def public_names(root: Path = ROOT) -> list[str]:
    """The names of `hopscope.__all__` in the order of the reference: functions, then classes."""
    tree = ast.parse((root / "hopscope" / "__init__.py").read_text("utf-8"))
    (names,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return sorted(
        (name for name in ast.literal_eval(names) if not name.startswith("__")),
        key=lambda name: (name[0].isupper(), name),
    )


def reference(root: Path = ROOT) -> str:
    """The page of the Python interface, for mkdocstrings."""
    intro = "What `import hopscope as hs` gives, from its docstrings. [In Python](python.md) shows how to use it; each operator is in\n"
    intro += "[Operators in full](operators.md)."
    return (
        f"# Python reference\n\n{intro}\n\n"
        + "\n\n".join(f"::: hopscope.{name}" for name in public_names(root))
        + "\n"
    )


def operators(root: Path = ROOT) -> dict[str, str]:
    """Return the docstring of each operator, a class with a title, by its name."""
    return {node.name: ast.get_docstring(node) or "" for node, _ in _operator_classes(root)}


def operator_parameters(root: Path = ROOT) -> dict[str, list[tuple[str, Any, str]]]:
    """Return name, default and help of each parameter of each operator, by the operator's name.

    An operator without any of its own has those of the operator that it is a kind of.
    """
    found: dict[str, list[tuple[str, Any, str]]] = {}
    bases: dict[str, str] = {}
    for node, constants in _operator_classes(root):
        rows = found.setdefault(node.name, [])
        bases[node.name] = ast.unparse(node.bases[0])
        for line in node.body:
            match line:
                case ast.AnnAssign(
                    target=ast.Name(id=name),
                    value=ast.Call(func=ast.Name(id="param"), args=[default, _, text, *_]),
                ):
                    rows.append((name, _value(default, constants), _value(text, constants)))
    return {name: rows or found.get(bases[name], []) for name, rows in found.items()}


def _operator_classes(root: Path) -> Iterator[tuple[ast.ClassDef, dict[str, Any]]]:
    """Yield the class of each operator with the constants of its module."""
    for file in sorted((root / "core" / "operators").rglob("*.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and "title" in _assigned(node):
                yield node, _constants(file, root)


@cache
def _constants(file: Path, root: Path) -> dict[str, Any]:
    """Return the texts and numbers that a module assigns or imports from another of core."""
    found: dict[str, Any] = {}
    for node in ast.parse(file.read_text("utf-8")).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("core."):
                source = (root / module.replace(".", "/")).with_suffix(".py")
                wanted = {one.name: one.asname or one.name for one in names if one.name.isupper()}
                if wanted and source.is_file():
                    values = _constants(source, root)
                    found |= {wanted[name]: values[name] for name in wanted if name in values}
            case ast.Assign():
                with suppress(NameError, TypeError, AttributeError):
                    exec(compile(ast.Module([node], []), "", "exec"), {"__builtins__": {}}, found)
    return found


def _value(node: ast.expr, constants: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, dict(constants))


def _assigned(node: ast.ClassDef) -> set[str]:
    """Return the names that the body of a class assigns a text to."""
    return {
        target.id
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        for target in line.targets
        if isinstance(target, ast.Name)
    }


def operators_page(root: Path = ROOT) -> str:
    """Return the page of all operators' docstrings, their examples as code."""
    parts = ["# Operators in full", ""]
    parts.append(
        "The docstring and the parameters of each operator. [Operators and methods](operators-and-methods.md) lists them by stage."
    )
    parameters = operator_parameters(root)
    for name, text in sorted(operators(root).items()):
        words, mark, example = text.partition("\n>>> ")
        code = f"\n\n```python\n>>> {example}\n```" if mark else ""
        parts.append(f"\n## {name}\n\n{words.rstrip()}{code}")
        rows = [f"| `{one}={value!r}` | {about} |" for one, value, about in parameters[name]]
        parts += ["\n| parameter | means |\n|---|---|", *rows] if rows else []
    return "\n".join(parts) + "\n"


def notebook(file: Path) -> str:
    """A notebook as a page, with what its cells gave. It needs nbconvert."""
    from nbconvert import MarkdownExporter

    text, _ = MarkdownExporter().from_filename(str(file))
    return text


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages to MkDocs' files."""
    from mkdocs.structure.files import File

    add = lambda path, **given: files.append(File.generated(config, path, **given))
    written = texts()
    for file, text in written.items():
        if file in MOVED:
            add(MOVED[file], content=rewritten(text, file))
    for file in sorted(
        {file for page, text in written.items() for file in linked(text, page)} - set(written)
    ):
        path = ROOT / file
        if path.suffix == ".ipynb":
            files.remove(files.get_file_from_path(str(path.relative_to(ROOT / "docs"))))
            add(site_path(file), content=notebook(path))
        elif path.suffix not in PICTURES:
            add(site_path(file), content=shown(file))
        elif not file.startswith("docs/"):
            add(file, abs_src_path=str(path))
    for file in sorted((ROOT / "static/gallery").glob("*-dark.webp")):
        add(f"static/gallery/{file.name}", abs_src_path=str(file))
    add("assets/icon.svg", abs_src_path=str(ROOT / "assets/icon.svg"))
    add("python-reference.md", content=reference())
    add("operators.md", content=operators_page())
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page of `docs` with the site's links, and on a dark page the dark picture of the two that there are."""
    file = f"docs/{page.file.src_uri}"
    return (
        DAY.sub(r"\1\2.webp#only-light)\1\2-dark.webp#only-dark)", rewritten(markdown, file))
        if (ROOT / file).is_file()
        else markdown
    )


def fetched(text: str) -> list[str]:
    """The addresses elsewhere from which a page or a style sheet would load something.

    >>> fetched('<a href="https://arxiv.org"></a> <script src="https://example.org/a.js"></script> <link href=//example.org/b.css>')
    ['https://example.org/a.js', '//example.org/b.css']
    """
    return ["".join(found) for found in ASSET.findall(text)]


def on_post_build(config: Any) -> None:
    """Refuses a site that loads anything from elsewhere."""
    from mkdocs.exceptions import PluginError

    for file in (
        file for file in Path(config.site_dir).rglob("*") if file.suffix in (".html", ".css")
    ):
        if addresses := fetched(file.read_text("utf-8")):
            raise PluginError(f"{file} would load {', '.join(addresses)}.")
