"""README, CONTRIBUTING and docs: links lead somewhere, paragraphs are short, and the examples of CONTRIBUTING.md run as printed."""

from __future__ import annotations

import doctest
import math
import re
import sys
import tomllib
import types

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.evaluation.metrics.catalogue import METRICS
from core.evaluation.metrics.outcome import Outcome, SubgraphSizes
from core.io.home import ROOT
from core.methods.catalogue import METHOD_FIELDS, Method
from core.models.backends import MODEL_BACKENDS
from core.models.base import Task
from core.models.registry import Registry
from core.operators import OPERATORS
from core.operators.text import RETRIEVAL_GRAMMAR, parse_line
from core.sources import CorpusSource
from core.types import Question
from tests.films import films, kit
from tests.test_examples_in_docstrings import failures, names

__all__ = ["films", "kit", "names"]
# which CONTRIBUTING.md adds as examples
ADDED = (
    "core/operators/degree.py",
    "core/graph/readers/dot.py",
    "core/models/backends/shared_words.py",
)
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
# by hand, not from docstrings
WRITTEN = [page for page in DOCS if page.name != "operators-and-methods.md"]
# of a paragraph, characters of a line, lines within which a page has its example
MAX_LINES, LINE, FIRST_LINES = (5, 150, 30)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
# the beginning of a line of a table, heading, mark, picture or code
BLOCK = re.compile(r"\||#|<!--|!\[| {4}")


def paragraphs(text: str) -> list[tuple[int, list[str]]]:
    """Return the paragraphs of a page and each item of a list.

    Each is given as the number of its first line and its lines. Code, tables and headings are left
    out.
    """
    found: list[tuple[int, list[str]]] = []
    fenced, open_ = False, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced, open_ = not fenced, False
        elif (
            fenced
            or not line.strip()
            or (BLOCK.match(line) and not (open_ and line.startswith("    ")))
        ):
            open_ = False
        elif open_ and not ITEM.match(line):
            found[-1][1].append(line.strip())
        else:
            found.append((number, [line.strip()]))
            open_ = True
    return found


def blocks_of(page: str, section: str) -> list[str]:
    """The blocks of Python and TOML of a section of a page, as they are printed."""
    (text,) = re.findall(
        rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)",
        (ROOT / page).read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    return re.findall(r"```(?:python|toml)\n(.*?)```", text, re.DOTALL)


def module_of(monkeypatch, name: str, *sources: str) -> types.ModuleType:
    """Run printed sources as a module that can be imported."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    for source in sources:
        exec(compile(source, f"{name.replace('.', '/')}.py", "exec"), module.__dict__)
    return module


def method_of(section: str) -> Method:
    """The method whose row is printed in a section of CONTRIBUTING.md."""
    (row,) = blocks_of("CONTRIBUTING.md", section)
    ((name, fields),) = tomllib.loads(row).items()
    return Method(name, **RETRIEVAL_GRAMMAR.parse_row(fields, METHOD_FIELDS, "CONTRIBUTING.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", [*PAGES[:2], *WRITTEN], ids=lambda page: page.name)
def test_no_paragraph_is_longer_than_five_lines(page):
    for number, lines in paragraphs(page.read_text("utf-8")):
        height = max(len(lines), math.ceil(len(" ".join(lines)) / LINE))
        assert height <= MAX_LINES, (
            f"{page.name}, line {number}: {height} lines of {LINE} characters"
        )


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_a_page_begins_with_its_purpose_and_an_example(page):
    lines = page.read_text("utf-8").splitlines()
    assert lines[0].startswith("# ") and not lines[1], "a heading"
    assert paragraphs("\n".join(lines[:3])), "what the page is for, right under its heading"
    assert any(line.startswith(("```", "    ", "|")) for line in lines[3:FIRST_LINES]), (
        "a command with its output, or a table"
    )


def test_links_to_a_heading_find_it():
    """As GitHub names the heading of a section: small letters, no punctuation, a hyphen for each space."""
    anchors = {
        page: {
            re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
        }
        for page in PAGES
    }
    for page in PAGES:
        for target, anchor in re.findall(
            r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8")
        ):
            assert anchor in anchors[(page.parent / target).resolve() if target else page], (
                f"{page.name}: {target}#{anchor}"
            )


def test_paragraphs_are_counted_by_hand():
    page = "# Title\n\none\ntwo\n\n- item\n  more of it\n- next\n\n    code\n        deeper\n\n| a |\n|---|\n\n```\nfenced\n```\nlast\n"
    assert paragraphs(page) == [
        (3, ["one", "two"]),
        (6, ["- item", "more of it"]),
        (8, ["- next"]),
        (19, ["last"]),
    ]


def test_rooms_that_documents_name_are_there():
    for page in PAGES:
        for path in re.findall(r"(?<![\w/])core/[\w/]+\.py\b", page.read_text("utf-8")):
            assert (ROOT / path).exists() or path in ADDED, f"{page.name}: {path}"


def test_the_example_of_an_operator_runs_as_written(kit, monkeypatch, names):
    """The two files of CONTRIBUTING.md, the example in the operator's docstring, and a row that names it."""
    operator, test = blocks_of("CONTRIBUTING.md", "Add an operator")
    module = module_of(monkeypatch, "core.operators.degree", operator)
    monkeypatch.setitem(OPERATORS, "DegreeNeighbourhood", module.DegreeNeighbourhood)
    (example,) = doctest.DocTestFinder().find(module.DegreeNeighbourhood, globs=names)
    assert example.examples and not failures(example)
    space: dict = {}
    exec(compile(test, "tests/core/operators/test_degree.py", "exec"), space)
    space["test_the_best_connected_nodes_near_the_seed_are_kept"](kit)
    assert repr(
        parse_line("DegreeNeighbourhood(keep=200) >> ShortestPaths() >> Answer()")
    ).startswith("DegreeNeighbourhood(keep=200)")
    assert method_of("Add a method on triples").line.operators[0].keep == 200


def test_the_example_of_a_method_on_documents_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    texts = {
        "wool": "The wool of the sheep was sold in Leeds.",
        "fair": "The fair in Leeds sold sheep.",
        "sea": "A calm sea.",
    }
    corpus = write_corpus(
        new_folder("towns"), [Document(name, text) for name, text in texts.items()]
    )
    method = method_of("Add a method on documents")
    engine = Engine(Registry())
    job = engine.compare(
        engine.prepare_question(
            CorpusSource.of(corpus), Question("What was sold in Leeds?"), uses_model=False
        ),
        [method],
    )
    assert job.wait(60)
    (lane,) = job.comparison.lanes
    assert lane.error is None
    assert lane.graph.columns.chunks.texts("document", lane.state.chunks.items) == ["wool", "fair"]


def test_the_example_of_a_file_is_right(monkeypatch):
    (source,) = blocks_of("CONTRIBUTING.md", "How a file here is written")
    module = module_of(monkeypatch, "core.density", source)
    (example,) = doctest.DocTestFinder().find(module.subgraph_density)
    assert example.examples and not failures(example)
    assert module.subgraph_density(1, 0) is None


def test_the_example_of_a_metric_runs_as_written(monkeypatch):
    formula, row, test = blocks_of("CONTRIBUTING.md", "Add a metric")
    head = (
        "from core.evaluation.metrics.metric import Metric\n"
        "from core.evaluation.metrics.outcome import Outcome, SubgraphSizes\n"
        "from core.evaluation.metrics.catalogue import metric\n"
    )
    module = module_of(monkeypatch, "core.density", head, formula, f"ROW = {row}", test)
    monkeypatch.setitem(METRICS, "subgraph_density", module.ROW)
    module.test_density_of_a_subgraph()
    one_node = SubgraphSizes(nodes=1, edges=0, found=0, components=1)
    assert module.ROW(Outcome(golds=1, extracted=one_node)) is None


def test_the_example_of_a_backend_scores(monkeypatch, tmp_path):
    source, row = blocks_of("CONTRIBUTING.md", "Add a backend of models")
    module = module_of(monkeypatch, "core.models.backends.shared_words", source)
    monkeypatch.setitem(MODEL_BACKENDS, "shared-words", module.SharedWords)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "models.toml").write_text(row, "utf-8")
    scores = (
        Registry().scorer("words").score(Task("the red fox"), ["a fox", "red foxes", "fox red the"])
    )
    assert scores.tolist() == [1 / 3, 1 / 3, 1.0]
