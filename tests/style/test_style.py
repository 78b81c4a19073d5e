"""The code keeps the limits of its style, and what is measured is counted right."""

from __future__ import annotations

import pytest

from tests.style.limits import (
    EXCEPTIONS,
    Exceptions,
    needed_exceptions,
    problems,
    read_exceptions,
    shortened,
)
from tests.style.project import Package, Project
from tests.style.source import Source

pytest.importorskip("radon", reason="is installed by `make linters`")

SMALL = '''"""A module."""

# Chosen by measurement.
LIMIT, STEP = 1, 2


def worst(a, b, c):
    """How bad it is. A second sentence about `nothing_of_this`.

    Returns
    -------
    A number.
    """
    smallest = lambda pair: min(pair)  # noqa: E731
    pairs = [(x, y) for x in a for y in b]
    text = """two

    lines"""
    return max(a, b, c, 1, 2, 3) if pairs else smallest(text)
'''


def project_of(**sources: str) -> Project:
    """Return a project whose package core has these modules."""
    modules = [Source(f"core/{name}.py", text) for name, text in sources.items()]
    packages = {name: Package(name, ()) for name in ("pages", "hopscope", "tests")}
    return Project(EXCEPTIONS.parent, {"core": Package("core", tuple(modules)), **packages})


def long_function(name: str, lines: int) -> str:
    """Return a function with so many lines."""
    return f"def {name}():\n" + "    pass\n" * (lines - 1)


def test_constructs_are_counted():
    counts = Source("core/small.py", SMALL).counts
    assert {name: counts[name] for name in sorted(counts) if "lines" not in name} == {
        "calls with six positional arguments": 1,
        "comprehensions": 1,
        "conditional expressions": 1,
        "docstrings": 1,
        "modules": 1,
        "named lambdas": 1,
        "nested comprehensions": 1,
        "parameter sections": 1,
        "statements": 6,
        "tuple assignments": 1,
    }


def test_code_lines_hold_no_docstring_comment_or_blank():
    counts = Source("core/small.py", SMALL).counts
    # The assignment, the def, and in it the lambda, the comprehension, two lines of text, the return.
    assert (counts["code lines"], counts["comment lines"]) == (7, 1)


def test_first_sentences_are_measured():
    package = Package("core", (Source("core/small.py", SMALL),))
    assert package.sentence_words == [4]
    assert (package.questions, package.long_sentences) == (100, 0)


def test_methods_and_closures_have_their_own_complexity():
    text = "class A:\n    def f(self, x):\n        def g():\n            return x or 1\n        return g\n"
    functions = Source("core/a.py", text).functions
    assert {item.name: item.complexity for item in functions} == {"A.f": 1, "A.f.g": 2}


def test_documentation_does_not_make_a_function_longer():
    text = (
        'def f():\n    """Return 1.\n\n    Returns\n    -------\n    One.\n    """\n    return 1\n'
    )
    assert [item.lines for item in Source("core/a.py", text).functions] == [2]


def test_a_name_in_a_docstring_must_exist():
    text = '"""Reads `read`, `core.b.read`, `sys.path`, `core.gone` and `nowhere`."""\nimport sys\nsys.path\n'
    missing = project_of(a=text, b="def read():\n    pass\n").missing_names
    assert missing == {("core/a.py", "core.gone"), ("core/a.py", "nowhere")}


def test_classes_of_one_name_are_found_in_different_modules_only():
    text = "class Found:\n    pass\n"
    assert needed_exceptions(project_of(a=text, b="")).places == frozenset()
    both = needed_exceptions(project_of(a=text, b=text)).places
    assert both == {"class core/a.py Found", "class core/b.py Found"}


def test_what_becomes_worse_is_named_though_something_else_is_excepted():
    known = Exceptions(frozenset({"long core/a.py f"}), {})
    before = project_of(a=long_function("f", 41))
    assert problems(before, known) == []
    after = project_of(a=long_function("f", 41) + long_function("g", 41))
    assert problems(after, known) == ["worse than allowed: long core/a.py g"]


def test_an_exception_that_is_not_needed_is_named_and_removed():
    known = Exceptions(
        frozenset({"long core/a.py f"}), {"ceiling core conditional-expressions": 40}
    )
    after = project_of(a=long_function("f", 40))
    assert [line.partition(":")[0] for line in problems(after, known)] == 2 * ["needs no exception"]
    assert len(shortened(known, needed_exceptions(after))) == 0


@pytest.mark.parametrize(
    ("ceiling", "fault"),
    [(29, "worse than allowed"), (31, None), (32, None), (40, "needs a lower ceiling")],
)
def test_a_ceiling_lies_a_little_above_its_figure(ceiling, fault):
    key = "ceiling core conditional-expressions"
    project = project_of(a=90 * "a = b if c else d\n" + 2910 * "pass\n")  # 30 in 1,000 lines
    found = problems(project, Exceptions(frozenset(), {key: ceiling}))
    assert [line.partition(":")[0] for line in found] == ([fault] if fault else [])


def test_exceptions_are_never_added_or_raised_without_leave():
    key = "ceiling core conditional-expressions"
    known = Exceptions(frozenset({"long core/a.py f"}), {key: 25})
    needed = Exceptions(frozenset({"long core/a.py f", "long core/a.py g"}), {key: 31})
    assert shortened(known, needed) == known


def test_the_file_of_exceptions_is_read_as_it_is_written():
    known = Exceptions(frozenset({"long core/a.py f"}), {"ceiling core named-lambdas": 1.25})
    assert read_exceptions(known.text()) == known
