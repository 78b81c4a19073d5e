"""The documents' site is whole: each page is in the navigation.

Each link and anchor leads to a page of the site. The site is read here without MkDocs.
"""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
import yaml

import hopscope
from core.cases import examples
from core.io.home import ROOT
from core.operators import OPERATORS
from core.parameters import parameters
from tests import gallery
from tests.core.test_requirements import named
from tests.test_docs import ITEM


def module(name: str, path):
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


build = module("site_build", ROOT / "docs/site/build.py")
TEXTS = build.texts()
MADE = {"python-reference.md", "operators.md"}


class Settings(yaml.SafeLoader):
    """Reads mkdocs.yml without making the Python objects that its tags name."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


@pytest.fixture(scope="module")
def settings() -> dict:
    return yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Settings)


def pages() -> set[str]:
    notebooks = {f"notebooks/{file.stem}.md" for file in (ROOT / "docs/notebooks").glob("*.ipynb")}
    return {build.site_path(file) for file in TEXTS} | notebooks | MADE


def test_each_page_is_in_the_navigation_once(settings):
    listed = [page for part in settings["nav"] for inside in part.values() for page in inside]
    assert len(listed) == len(set(listed)) and set(listed) == pages()


def test_the_site_lies_in_no_folder_that_the_docs_name_for_exports(settings):
    folder = settings["site_dir"]
    exports = {
        name.strip("/") for text in TEXTS.values() for name in re.findall(r"--site (\S+)", text)
    }
    assert exports and folder not in exports
    assert f"/{folder}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_examples_of_the_site_s_code_are_true():
    tried = doctest.testmod(build)
    assert tried.attempted >= 4 and not tried.failed


@pytest.mark.parametrize("file", TEXTS)
def test_links_of_a_page_lead_to_a_page_of_the_site(file):
    text = build.rewritten(TEXTS[file], file)
    here, known = (
        PurePosixPath(build.site_path(file)).parent,
        {build.site_path(one): one for one in build.linked(TEXTS[file], file)},
    )
    for _, target in build.LINK.findall(text):
        path = os.path.normpath(here / target)
        assert path in pages() or (path in known and (ROOT / known[path]).is_file()), target
    assert re.sub(r"\]\([^)]*\)", "", text) == re.sub(r"\]\([^)]*\)", "", TEXTS[file])


@pytest.mark.parametrize("file", TEXTS)
def test_a_list_has_a_blank_line_before_it(file):
    """GitHub begins a list without one, Python-Markdown does not."""
    before, fenced = "", False
    for line in TEXTS[file].splitlines():
        fenced ^= line.startswith("```")
        if ITEM.match(line) and not fenced and not line.startswith("    "):
            assert not before or ITEM.match(before) or before.startswith("  "), line
        before = line.rstrip()


def test_headings_are_named_as_on_github(settings):
    """So that the anchors which tests/test_docs.py follows are those of the site."""
    (toc,) = [
        one["toc"]
        for one in settings["markdown_extensions"]
        if isinstance(one, dict) and "toc" in one
    ]
    assert toc["slugify"] == "object/apply:pymdownx.slugs.slugify"


def test_the_reference_has_each_public_name():
    assert sorted(build.public_names()) == sorted(
        name for name in hopscope.__all__ if not name.startswith("__")
    )


def test_the_site_has_the_docstring_and_the_parameters_of_each_operator():
    found, given = build.operators(), build.operator_parameters()
    assert set(OPERATORS) <= set(found)
    for name, cls in OPERATORS.items():
        assert inspect.getdoc(cls) == found[name], name
        assert [(one.name, one.default, one.help) for one in parameters(cls)] == given[name], name
    page = build.operators_page()
    assert all(f"\n## {name}\n" in page for name in OPERATORS)


def test_nothing_is_loaded_from_elsewhere(settings):
    assert settings["theme"]["font"] is False
    assert build.fetched(
        '<img\n alt="a" src=https://example.org/a.png> @import "//example.org/b.css"; url( "c.woff")'
    ) == [
        "https://example.org/a.png",
        "//example.org/b.css",
    ]
    assert (
        build.fetched(
            '<a href="https://example.org">a</a> <link href="a.css"> <p>src="https://example.org"</p>'
        )
        == []
    )


def test_what_makes_it_is_pinned_and_checked(settings):
    pinned = named("requirements-docs.txt")
    assert {"mkdocs", "mkdocs-material", "mkdocstrings", "mkdocstrings-python", "nbconvert"} <= set(
        pinned
    ) and all(pinned.values())
    assert (
        set(settings["validation"]["links"].values())
        == set(settings["validation"]["nav"].values())
        == {"warn"}
    )
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text("utf-8")
    steps = yaml.safe_load((ROOT / ".github/workflows/docs.yml").read_text("utf-8"))["jobs"][
        "docs"
    ]["steps"]
    assert "make docs" in [step.get("run") for step in steps]


def test_the_gallery_has_each_case_that_ships_with_its_pictures():
    assert gallery.PAGE.read_text("utf-8") == gallery.page(), "make it anew: make gallery"
    shipped = [case for case, _ in examples.examples()]
    assert gallery.page().count("\n### ") == len(shipped)
    files = {examples.picture_file(case, dark) for case in shipped for dark in (False, True)}
    assert (
        files == set(examples.PICTURE_FOLDER.iterdir())
        and max(file.stat().st_size for file in files) <= gallery.MAX_BYTES
    )
    assert examples.picture_file(replace(shipped[0], example=False)) is None
