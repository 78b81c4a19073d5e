"""The steps of a build on Texts are bricks by the palette of Build.

A changed line is built, looked at, asked and found again.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

import pytest

from core.builds import build_status, find_build, own_builds
from core.operators.texts.built_graph import BuiltGraph
from pages.parts.build.bench import Bench
from pages.parts.build.line_drawing import line_data
from pages.parts.texts import steps
from pages.parts.texts.build_choice import build_words
from pages.parts.texts.other_ways import EXPERT_WAY
from tests.pages.texts.texts_kit import button, opened, texts, until

ROW = find_build("passage-noun-phrases")
OWN = "TokenChunks(size=240, overlap=24) >> NounPhrases() >> PassageGraph(min_shared=2)"


@pytest.fixture()
def sent(monkeypatch):
    """Return all that the component was sent, the latest at the end."""
    found: list[dict] = []
    monkeypatch.setattr(steps, "draw_bricks", lambda bench, data, *_: found.append(data))
    return found


def passages(**state):
    return opened(
        texts_ways=True,
        texts_way=EXPERT_WAY,
        texts_kind_for="small",
        texts_kind="passage",
        **{"texts_build-passage": ROW.id},
        **state,
    )


def bench(at) -> Bench:
    return at.session_state["texts_bench"][1]


def starts(at):
    """The button of the dialog that starts the chosen build."""
    return [one for one in at.button if str(one.key).startswith("start-way")]


def hear(at, *edits):
    one = bench(at)
    one.apply_message(
        {
            "who": "test",
            "edits": [{"n": n, **edit} for n, edit in enumerate(edits, one.last_edit[1] + 1)],
        },
        lambda text, parameter: None,
    )
    return at.run()


def test_the_steps_are_bricks_with_what_differs_and_only_what_fits(small, sent):
    passages()
    shown = sent[-1]
    assert [(brick["stage_words"], brick["title"]) for brick in shown["bricks"]] == [
        ("Cut", "Chunks by tokens"),
        ("Read", "Names and noun phrases"),
        ("Make the graph", "Passages that share entities"),
    ]
    assert (
        shown["bricks"][0]["given"] == [["Tokens", "240"], ["Overlap", "24"]]
        and shown["text"] == repr(ROW.line)
        and shown["compact"]
    )
    assert [entry["name"] for group in shown["palette"]["groups"] for entry in group["rows"]] == [
        "WholeDocuments",
        "TokenChunks",
        "SentenceChunks",
        "CharacterChunks",
    ]
    assert any(
        "was not opened from an index" in other["why"] for other in shown["palette"]["others"]
    )


def test_a_changed_line_is_built_asked_and_found_again(small, sent):
    at = passages()
    hear(at, {"do": "set", "key": 3, "name": "min_shared", "value": 2})
    assert "Passages that share entities: shared entities 1 → 2" in texts(
        at
    ) and f"{ROW.title}, changed" in texts(at)
    until(at, lambda: starts(at))
    starts(at)[0].click().run()
    until(at, lambda: build_status(small, OWN).is_current and at.get("link_button"))
    assert not build_status(small, ROW).is_built and list(own_builds(small)) == [OWN]
    (link,) = at.get("link_button")
    changed, usual = parse_qs(urlparse(link.proto.url).query)["lane"]
    assert repr(BuiltGraph(build=OWN)) in changed and usual in steps.methods()
    at.session_state["texts_ways"] = True
    at.run()
    hear(at, {"do": "undo"})
    assert "changed" not in texts(at) and "not built" in texts(at)
    fresh = opened(texts_ways=True, texts_way=EXPERT_WAY)
    assert fresh.session_state[
        "texts_kind"
    ] == "own" and "Own build: chunks of 240 tokens" in texts(fresh)
    assert bench(fresh).draft.text == OWN


def test_a_line_that_makes_no_graph_says_so_and_there_is_a_way_back(small, sent):
    at = passages()
    hear(at, {"do": "remove", "key": 1})
    assert not at.exception and steps.INCOMPLETE_STEPS_NOTE in texts(at) and not starts(at)
    assert "reads chunks, and nothing before it cuts any" in sent[-1]["bricks"][0]["fault"]
    hear(at, *({"do": "remove", "key": key} for key in (2, 3)))
    assert steps.NO_STEPS_NOTE in texts(at) and sent[-1]["start"].endswith("press +.")
    button(at, "Back to the chosen build").click().run()
    assert (
        not at.exception
        and bench(at).draft.text == repr(ROW.line)
        and steps.INCOMPLETE_STEPS_NOTE not in texts(at)
    )


def test_a_line_of_the_catalogue_is_that_build_and_a_hostile_one_is_refused_as_text(small, sent):
    at = passages()
    hear(at, {"do": "text", "text": repr(find_build("kg-noun-phrases").line)})
    assert build_words(find_build("kg-noun-phrases")) in texts(at)
    hear(at, {"do": "text", "text": "TokenChunks(size='<img src=x onerror=alert(1)>')"})
    assert "must be a whole number" in sent[-1]["trouble"] and sent[-1]["typed"].count("<img") == 1


def test_every_building_operator_has_a_form_and_a_sentence_without_marks():
    for name, cls in Bench.of_line(ROW.line).draft.grammar.operators.items():
        one = Bench.of_line(
            find_build(
                "TokenChunks() >> NounPhrases() >> Merge() >> Communities() >> Reports()"
            ).line
        )
        one.apply_message(
            {"who": "a", "edits": [{"n": 1, "do": "insert", "slot": "5", "name": name}]},
            lambda *_: None,
        )
        form = line_data(one, {})["form"]
        assert "`" not in form["sentence"] and all(
            field["label"] and field["help"] for field in form["fields"]
        ), cls
