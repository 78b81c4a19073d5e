"""Loops and unions on the Build screen: drawn as what they are, with the forms of what they hold."""

from __future__ import annotations

from tests.pages.build.test_build import draft, opened, own  # noqa: F401

LINE = (
    "BuiltGraph(build='links') >> EmbedQuery() >> VectorNodes(keep=10) >> "
    "Loop(body=ExpandNodes(keep=5) >> GraphRerank(), budget=50) >> DocumentsOfNodes() >> AnswerFromTables()"
)


def test_a_loop_is_shown_with_what_it_repeats_and_can_be_changed(own):  # noqa: F811
    at = opened(line=LINE)
    assert not at.exception
    assert any("until 50 nodes" in caption.value.lower() for caption in at.caption)
    budget = next(one for one in at.number_input if one.label == "Nodes in all")
    more = next(one for one in at.number_input if one.label == "Nodes more")
    assert (budget.value, more.value) == (50, 5)
    budget.set_value(80).run()
    next(one for one in at.number_input if one.label == "Nodes more").set_value(7).run()
    assert not at.exception
    assert "Loop(body=ExpandNodes(keep=7) >> GraphRerank(), budget=80)" in repr(draft(at).line())


BOTH = "BuiltGraph(build='links') >> EmbedQuery() >> (VectorNodes() | SparseNodes(keep=5)) >> DocumentsOfNodes() >> AnswerFromTables()"


def test_a_union_is_two_searches_side_by_side_and_each_can_be_changed(own):  # noqa: F811
    at = opened(line=BOTH)
    assert not at.exception
    first, second = at.columns
    assert "One search" in first.markdown[0].value and "from the same start" in second.markdown[0].value
    assert [column.markdown[1].value for column in (first, second)] == ["1. **entities by vector**", "1. **entities by words**"]
    at.columns[0].number_input[0].set_value(7).run()
    at.columns[1].number_input[0].set_value(6).run()
    assert not at.exception
    assert "Union(first=VectorNodes(keep=7), second=SparseNodes(keep=6))" in repr(draft(at).line())


def test_a_loop_numbers_what_it_repeats(own):  # noqa: F811
    shown = [one.value for one in opened(line=LINE).markdown]
    start = next(place for place, text in enumerate(shown) if "Repeated, in this order" in text)
    assert shown[start + 1].startswith("1. **") and shown[start + 2].startswith("2. **")
