"""Valid and invalid orders of operators on documents."""

import inspect
import re

import pytest

from core.errors import BadParameter
from core.io.home import ROOT
from core.operators import OPERATORS
from core.operators.text import parse_line

# Rows of the operator table of the in-depth analysis.
ROW = r"^\| (node|relationship|chunk|subgraph|community) \| [^|]+ \| ([^|]+) \|$"


@pytest.mark.parametrize(
    "line, reason",
    [
        ("EmbedQuery() >> BuiltGraph()", "must come first"),
        ("BuiltGraph() >> BuiltGraph()", "must come first"),
        ("VectorChunks()", "reads the question's vector"),
        ("BuiltGraph() >> AnswerFromTables()", "nothing before it finds any"),
        ("EmbedQuery(text='low keywords')", "reads the question's keywords"),
        ("SparseChunks() >> IncidentRelations()", "reads entities"),
        ("SparseChunks() >> Merge()", "set aside"),
        ("SparseChunks() >> AnswerFromTables() >> Truncate()", "after the answer"),
    ],
)
def test_line_that_reads_missing_fields_is_refused(line, reason):
    with pytest.raises(BadParameter, match=reason):
        parse_line(line)


def test_line_is_parsed_again_from_its_text():
    text = (
        "BuiltGraph(build='tkg') >> EmbedQuery() >> VectorNodes(keep=7) >> IncidentRelations() >> "
        "ContextTables() >> AnswerFromTables()"
    )
    assert repr(parse_line(text)) == text


def test_all_21_operators_of_the_analysis_exist_and_are_short():
    """Seven use entities, four relations, four chunks, three subgraphs, and three communities."""
    rows = re.findall(ROW, (ROOT / "docs" / "asking-documents.md").read_text("utf-8"), re.MULTILINE)
    kinds = [kind for kind, _ in rows]
    assert [kinds.count(kind) for kind in dict.fromkeys(kinds)] == [7, 4, 4, 3, 3]
    for name in {name for _, here in rows for name in re.findall(r"`([A-Z]\w+)`", here)}:
        cls = OPERATORS[name]
        documentation = (cls.__doc__ or "").splitlines()
        assert len(inspect.getsource(cls).splitlines()) - len(documentation) < 100, name
