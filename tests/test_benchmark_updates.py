"""The benchmark of updates runs on a small corpus, whose graph is that of a rebuild.

The tests look at which documents are held out, and what each change is.
"""

from __future__ import annotations

import pytest

from core.corpus import Document, open_corpus
from tests.benchmarks.updates import Update, figure, measured, parts, steps

DOCUMENTS = [
    Document(
        f"d{number:02}",
        f"Harbour {number} of Oban lies by ship {number % 7} and pier {number % 5}.",
    )
    for number in range(40)
]


def test_documents_are_held_out_for_each_share_twice():
    base, added, texts = parts(DOCUMENTS, (5, 10))
    assert [len(part) for part in added] == [len(part) for part in texts] == [2, 4] and len(
        base
    ) == 28
    assert len({one.id for part in (base, *added, *texts) for one in part}) == 40


def test_each_change_is_of_other_documents_and_texts_that_were_not_there():
    base, added, texts = parts(DOCUMENTS, (5, 10))
    changes = list(steps(DOCUMENTS, (5, 10)))
    assert [kind for kind, *_ in changes] == ["added"] * 2 + ["changed"] * 2 + ["removed"] * 2
    assert [put for _, put, _ in changes[:2]] == added
    changed = [one for _, put, _ in changes[2:4] for one in put]
    assert [one.id for one in changed] == [one.id for one in base[:6]] and [
        one.text for one in changed
    ] == [one.text for part in texts for one in part]
    assert [id for _, _, gone in changes[4:] for id in gone] == [one.id for one in base[6:12]]


def test_rows_of_a_graph_that_is_in_the_end_that_of_a_rebuild(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    found = measured(
        DOCUMENTS, "WholeDocuments() >> SharedTerms(keep=2)", (5, 10), open_corpus("cacm"), tmp_path
    )
    assert [(one.kind, one.documents, one.of) for one in found] == [
        ("built", 28, 28),
        ("added", 2, 30),
        ("added", 4, 34),
        ("changed", 2, 34),
        ("changed", 4, 34),
        ("removed", 2, 32),
        ("removed", 4, 28),
        ("rebuilt", 28, 28),
    ]
    assert found[-1].same is True and all(
        (one.calls, one.tokens, one.read) == (0, 0, 0) for one in found
    )


def test_the_picture_has_a_line_for_each_kind_of_change():
    row = lambda kind, documents, seconds: Update(
        "kg", kind, documents, 100, seconds, 1, 2, 0, 0, 0
    )
    drawn = figure(
        [
            row("added", 1, 1.0),
            row("added", 10, 2.0),
            row("removed", 5, 0.5),
            row("rebuilt", 100, 4.0),
        ]
    )
    lines = {line.name: (list(line.x), list(line.y)) for line in drawn.data}
    assert lines["kg, added"] == ([1.0, 10.0], [0.25, 0.5]) and lines["kg, removed"] == (
        [5.0],
        pytest.approx([0.125]),
    )
