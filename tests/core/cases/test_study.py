"""The shipped case study: its graph, its cases in an empty user folder, and its command."""

from __future__ import annotations

import gzip
import json

import pytest

from core.cases import cases, comparison_of_case
from core.cli import main
from core.datasets import datasets
from core.io.home import ROOT
from core.results import comparison_dict

FOLDER = ROOT / "data" / "case-study"
AROUND = {"United States of America", "New York City", "Chicago"}


def triples(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in text.splitlines()]


def test_graph_has_the_figures_facts_and_their_surroundings():
    facts = triples((FOLDER / "figure.tsv").read_text("utf-8"))
    if not (ROOT / "data" / "webqsp-cwq").is_dir():
        pytest.skip("data/webqsp-cwq, of which the surroundings were taken, was deleted")
    union = triples(
        gzip.decompress((ROOT / "data" / "webqsp-cwq" / "kg.tsv.gz").read_bytes()).decode()
    )
    near = set(AROUND)
    for _ in range(2):
        near |= {
            node for head, _, tail in union if head in near or tail in near for node in (head, tail)
        }
    around = [triple for triple in union if triple[0] in near and triple[2] in near]
    shipped = triples(gzip.decompress((FOLDER / "triples.tsv.gz").read_bytes()).decode())
    assert (len(facts), len(around)) == (27, 724) and shipped == list(
        dict.fromkeys([*facts, *around])
    )


def test_empty_user_folder_has_the_examples():
    found = [case for case in cases() if case.id.startswith("example-case-study-")]
    assert [case.methods for case in found] == [
        ("No. 1", "No. 2", "No. 12", "No. 14"),
        ("No. 8", "No. 10", "No. 11"),
        ("No. 8", "No. 11", "No. 12"),
    ]
    assert found[0].method_labels == (
        "Shortest paths",
        "Rank by meaning, relations filtered",
        "Rank by meaning",
        "Beam search",
    )
    assert all(
        case.example and case.tags == ("case study",) and case.graph == "case-study"
        for case in found
    )


def test_first_examples_are_listed_first_and_searchable():
    kinds = [case.tags[0] for case in cases()]
    assert list(dict.fromkeys(kinds)) == ["demo", "documents", "case study"]
    assert {case.tags[0] for case in cases("Relation chains")} == {"demo"} and cases(
        "Chain ranking"
    ) == cases("Relation chains")


def test_examples_show_the_results_of_the_figure():
    """No. 2 and No. 12 rank the radio episode first; the graph reader names it."""
    told = comparison_dict(comparison_of_case("example-case-study-1"))
    episode = (
        "Carl Sandburg -> radio.radio_subject.episodes_with_this_subject -> Carl Sandburg at "
        "Connemara"
    )
    lanes = {lane["instance"]: lane for lane in told["lanes"]}
    assert all(lanes[key]["paths"][0]["text"] == episode for key in ("lego-2", "lego-12"))
    assert (
        lanes["lego-12"]["reader_answers"] == ["Carl Sandburg at Connemara"]
        and lanes["lego-1"]["paths"][0]["text"] != episode
    )
    for number in (1, 2, 3):
        for lane in comparison_dict(comparison_of_case(f"example-case-study-{number}"))["lanes"]:
            assert lane["status"] == "done" and lane["answer"] and lane["prompt"]


def test_examples_use_the_shipped_graph(home):
    digest = datasets()["case-study"].open().digest
    assert {case.digest for case in cases() if case.id.startswith("example-case-study-")} == {
        digest
    }


# --- the command ---


def test_cases_are_listed_exported_and_imported(capsys, tmp_path, monkeypatch):
    assert main(["cases", "list", "--json", "ukinrek"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["id"] == "example-case-study-3" and told["example"]
    file = tmp_path / "one.cases.gz"
    assert main(["cases", "export", told["id"], "--out", str(file)]) == 0
    assert main(["cases", "import", str(file)]) == 0
    assert "1 added, 0 were here already" in capsys.readouterr().out
    # Only the imported case is the user's own.
    assert main(["cases", "export", "--out", str(file)]) == 0
    assert (
        main(["cases", "import", str(file)]) == 0
        and "0 added, 1 were here already" in capsys.readouterr().out
    )


def test_command_reports_errors(capsys, tmp_path):
    assert (
        main(["cases", "export", "--out", str(tmp_path / "x")]) == 2
        and "no cases of your own" in capsys.readouterr().err
    )
    assert (
        main(["cases", "import", str(tmp_path / "missing")]) == 2
        and "cannot be read" in capsys.readouterr().err
    )
    (tmp_path / "odd").write_bytes(b"odd")
    assert (
        main(["cases", "import", str(tmp_path / "odd")]) == 2
        and "not JSON" in capsys.readouterr().err
    )
    assert (
        main(["cases", "export", "example-case-study-1", "--out", str(tmp_path)]) == 1
        and "cannot be written" in capsys.readouterr().err
    )


def test_study_saves_and_exports_its_cases(capsys, tmp_path, monkeypatch, kit):
    """The models are scripted; the shipped file was made with the embedded ones."""
    from core.engine import Engine

    scores = kit.Table({"radio.radio_subject.episodes_with_this_subject": 1.0})
    chooser = kit.Picker(
        "radio.radio_subject.episodes_with_this_subject", "geography.mountain.mountain_type"
    )
    engine = Engine(
        kit.Written(
            encoder=scores, **{f"prefilter(encoder, choose, {n})": chooser for n in (32, 64)}
        )
    )
    monkeypatch.setattr("core.cli._make_engine", lambda: engine)
    assert main(["cases", "study", "--out", str(tmp_path / "study.cases.gz")]) == 0
    engine.jobs.stop()
    own = [case for case in cases() if not case.example]
    shipped = [case for case in cases() if case.example and case.graph == "case-study"]
    assert sorted(case.question for case in own) == sorted(case.question for case in shipped)
    assert (
        all(case.link["graph"] == "case-study" for case in own)
        and (tmp_path / "study.cases.gz").stat().st_size > 1_000
    )
