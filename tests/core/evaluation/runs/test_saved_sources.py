"""Sources that questions are asked of, as evaluations of any version hold them.

They are read from all, and written as they always were.
"""

import json

from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.saved_sources import read_source, sources_of
from core.evaluation.runs.store import Store
from core.sources import CorpusSource, GraphSource
from core.types import Question

SAVED = {  # as the tables of earlier versions hold it
    "towns": GraphSource("towns"),
    "webqsp-cwq:WebQTest-1": GraphSource("webqsp-cwq:WebQTest-1"),
    "": GraphSource(""),
    "corpus:letters": CorpusSource("letters"),
}


def test_every_text_is_read_and_written_as_it_was():
    assert {text: read_source(text) for text in SAVED} == SAVED
    assert [source.saved_name for source in SAVED.values()] == list(SAVED)
    assert sources_of({"graphs": [["corpus:letters", "d1"], ["towns", "d2"]]}) == [
        CorpusSource("letters"),
        GraphSource("towns"),
    ]
    assert GraphSource("letters") != CorpusSource("letters")


def test_the_questions_of_a_run_are_stored_in_the_same_text(tmp_path):
    store = Store(tmp_path / "evaluations.sqlite")
    drawn = [
        DrawnQuestion(Question("Who?", f"q-{place}"), "asked", source)
        for place, source in enumerate(SAVED.values())
    ]
    run = store.begin_run({"instances": [], "sample": len(drawn)}, drawn)
    assert store.drawn_questions(run.id) == drawn
    rows = store._db.execute("SELECT told FROM questions ORDER BY place").fetchall()
    assert [json.loads(text)["graph"] for (text,) in rows] == list(SAVED)
