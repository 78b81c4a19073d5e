"""A loop on the Build screen: the forms of what it repeats and of its budget."""

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
