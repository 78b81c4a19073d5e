"""Hopscope as a Python package: comparisons, drawings, tables, and methods from notebooks."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest

import hopscope as hs
from core.cli import main
from core.operators import OPERATORS
from core.operators.base import Context, Operator, Recorder
from core.types import Ranking, State
from hopscope.picture import MAX_DRAWN_NODES, html, svg

QUESTION = "who directed Inception"
NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


@pytest.fixture(scope="module")
def found():
    return hs.compare(QUESTION, [NEAR, "lego-12"], progress=False)


def test_comparison_equals_the_output_of_the_command(found, capsys):
    assert (
        main(["ask", QUESTION, "--no-llm", "--json", "--method", NEAR, "--method", "lego-12"]) == 0
    )
    printed = json.loads(capsys.readouterr().out)
    times = ("operators",)
    plain = lambda data: [
        {key: value for key, value in lane.items() if key not in times} for lane in data["lanes"]
    ]
    assert plain(json.loads(found.to_json())) == plain(printed)
    assert (
        found[0].answers[0] == "Christopher Nolan"
        and found["lego-12"].method == "lego-12"
        and found["pagerank-paths-ranked"] is found["lego-12"]
        and len(found) == 2
    )
    with pytest.raises(KeyError, match="lego-12"):
        found["lego-2"]


def test_tables_have_a_row_for_each_path_and_hit(found):
    rows = found.rows()
    assert len(rows) == sum(len(lane.paths) for lane in found)
    frame, table = found.to_pandas(), found.to_arrow()
    assert list(frame["text"]) == [row["text"] for row in rows] == table["text"].to_pylist()
    assert frame.columns.tolist() == table.column_names
    first = found.to_run("path", "q7").splitlines()[0].split()
    assert (
        first[0] == "q7"
        and first[3] == "1"
        and len(first) == 6
        and first[2] == "_".join(rows[0]["text"].split())
    )


def test_operators_are_attributes_and_make_lines():
    line = hs.EgoNetwork(hops=1) >> hs.ShortestPaths(hops=1)
    assert repr(line) == NEAR and set(OPERATORS) <= set(dir(hs))
    assert hs.compare(QUESTION, line, progress=False)[0].answers[0] == "Christopher Nolan"
    with pytest.raises(AttributeError, match="Nowhere"):
        hs.__getattr__("Nowhere")


def test_function_is_a_method_and_can_be_redefined():
    def mine(request):
        return {
            "paths": [
                {
                    "nodes": ["Inception", "Christopher Nolan"],
                    "relations": ["directed_by"],
                    "score": 1.0,
                }
            ]
        }

    first = hs.compare(QUESTION, mine, progress=False)[0]
    assert (
        first.paths == ["Inception -> directed_by -> Christopher Nolan"] and first.method == "mine"
    )

    def mine(request):
        return {"paths": []}

    assert hs.compare(QUESTION, mine, progress=False)[0].paths == []
    failing = hs.compare(QUESTION, lambda request: 1 / 0, progress=False)[0]
    assert "division by zero" in failing.error


def test_notebook_operator_runs_again_when_redefined():
    def defined(reach: int) -> type[Operator]:
        @dataclass(frozen=True, repr=False)
        class Firsts(Operator):
            """The first paths."""

            stage = "refine"
            title = "first paths"
            reads, writes = ("paths",), ("paths",)

            def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
                return state.replace(paths=Ranking("path", state.paths.items[:reach]))

        return Firsts

    lines = [
        hs.EgoNetwork(hops=1) >> hs.ShortestPaths(hops=1) >> defined(reach)() for reach in (2, 3)
    ]
    assert [len(hs.compare(QUESTION, line, progress=False)[0].paths) for line in lines] == [2, 3]


class BalancedMarkupParser(HTMLParser):
    """A parser that fails on unbalanced elements and records all element names."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_drawing_is_escaped_and_complete(found):
    evil = "<script>alert(1)</script>"
    path = {
        "text": f"{evil} -> r -> B",
        "score": None,
        "nodes": [evil, "B"],
        "relations": ['"><img src=x>'],
        "forward": [True],
    }
    lane = {**found[0].data, "instance": evil, "paths": [path], "answer": evil}
    page = html(
        {
            **found.data,
            "question": evil,
            "entities": [evil],
            "lanes": [lane, {**lane, "error": evil}],
        }
    )
    reader = BalancedMarkupParser()
    reader.feed(page)
    assert reader.open == [] and not {"script", "img"} & set(reader.seen)
    reader = BalancedMarkupParser()
    reader.feed(found._repr_html_())
    assert reader.seen.count("svg") == 1 and reader.seen.count("circle") <= MAX_DRAWN_NODES


def test_path_drawing_has_the_expected_shapes(either_library):
    path = {
        "nodes": ["A", "B", "C"],
        "relations": ["r", "s"],
        "text": "",
        "score": None,
        "forward": [True, True],
    }
    lanes = [{"paths": [path]}, {"paths": [{**path, "nodes": ["A", "B"], "relations": ["r"]}]}]
    drawn = svg({"lanes": lanes, "answers": ["c"], "entities": ["A"]})
    # Both lanes have A to B, and one has B to C.
    assert drawn.count("<circle") == 3 and drawn.count("<line") == 3
    assert svg({"lanes": [{"paths": []}], "answers": [], "entities": []}) == ""


def test_names_in_drawings_do_not_overlap(either_library):
    spokes = [f"neighbour number {at}" for at in range(12)]
    paths = [{"nodes": ["the node in the middle", spoke], "relations": ["r"]} for spoke in spokes]
    drawn = svg({"lanes": [{"paths": paths}], "answers": [], "entities": []})
    names = re.findall(r'<text x="(\d+)" y="(\d+)" text-anchor="(\w+)">([^<]+)<', drawn)
    assert len(names) == 13
    boxes = []
    for x, y, anchor, name in names:
        wide = 5.5 * len(name)
        left = int(x) - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        boxes.append((left, int(y) - 9, left + wide, int(y) + 2))
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_invalid_question_is_reported():
    with pytest.raises(hs.HopscopeError, match="name one of the two"):
        hs.compare(QUESTION, graph="metaqa", corpus="hotpotqa")
    with pytest.raises(hs.HopscopeError, match="no method “lego-1x”"):
        hs.compare(QUESTION, "lego-1x")
    with pytest.raises(hs.HopscopeError, match="not int"):
        hs.compare(QUESTION, [7])


def test_evaluation_of_hand_made_questions(tmp_path):
    file = tmp_path / "mine.csv"
    rows = (
        "question,answers,entities",
        "who directed it,Christopher Nolan,Inception",
        "who directed that,Nobody,Following",
    )
    file.write_text("\n".join(rows))
    with pytest.warns(UserWarning, match="“Nobody”"):
        done = hs.evaluate(NEAR, str(file), sample=None, progress=False)
    (mean,) = done.means()
    # One of two questions has its answer in the graph.
    assert mean["questions"] == 2 and mean["subgraph_recall"] == pytest.approx(0.5)
    assert sorted(row["subgraph_recall"] for row in done.rows()) == [0, 1]
    assert (
        done.to_pandas().loc[0, "method"] == NEAR
        and "<table" in done._repr_html_()
        and "\\begin{tabular}" in done.to_latex()
    )
    assert {file.name for file in done.to_run(tmp_path / "out")} and done.to_arrow().num_rows == 2


def test_operators_of_others_may_use_former_names():
    from core.models.base import Choice
    from core.operators.base import Operator, Recorder

    class Former(Operator):
        """An operator with the attributes of an earlier version."""

        stage, title = "refine", "former"
        remembered, wanders = False, True

    recorder = Recorder()
    assert not Former.is_reusable and Former.has_untargeted_paths and Operator.is_reusable
    assert recorder.choice(Choice((1,), (0.5,), (1,), (0.5,))).positions == (1,)
