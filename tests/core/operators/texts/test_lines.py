"""Which operators on texts may follow which."""

import pytest

from core.errors import BadParameter
from core.operators.text import parse_line


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
def test_a_line_that_reads_what_nobody_wrote_is_refused(line, reason):
    with pytest.raises(BadParameter, match=reason):
        parse_line(line)


def test_a_line_reads_back_from_its_text():
    text = "BuiltGraph(build='tkg') >> EmbedQuery() >> VectorNodes(keep=7) >> IncidentRelations() >> ContextTables() >> AnswerFromTables()"
    assert repr(parse_line(text)) == text
