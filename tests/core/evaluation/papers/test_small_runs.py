"""Each of the papers' experiments, run on a question or two.

It runs from its command to its tables, which have a row for each method.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.cli import EXIT_OK, main
from core.corpus import Document, write_corpus
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.papers.experiments import find_experiment
from core.types import Question
from tests.model_server import model_server
from tests.real_models import no_layers

__all__ = ["no_layers"]
pytestmark = pytest.mark.usefixtures("no_layers")

QUESTIONS = (
    '{"question": "what genre has One", "entities": ["One"], "answers": ["Drama"]}\n'
    '{"question": "who directed Two", "entities": ["Two"], "answers": ["Ann"]}\n'
)


@pytest.fixture(scope="module")
def server():
    with model_server(0.0) as started:
        yield started


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory):
    """One home for all tests.

    So the graphs of the shipped documents are built once, and each text is encoded once.
    """
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def home(shared_home, monkeypatch):
    """The home of a test; the models that it declares are its own."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(shared_home))
    return shared_home


@pytest.fixture
def run(server, home, capsys):
    """`run(id, *arguments)`: the tables of `reproduce`, answered and picked by a server whose replies say nothing."""
    row = f'[model.served]\nkind = "chat"\nbackend = "openai"\nurl = "{server.url}"\nmodel = "m"\n'
    row += '[roles]\njudge = "served"\n'
    (home / "models.toml").write_text(row, "utf-8")

    def made(id, *arguments):
        code = main(["reproduce", id, "--json", *arguments])
        out = capsys.readouterr()
        assert code == EXIT_OK, out.err
        return json.loads(out.out)

    return made


@pytest.mark.parametrize(
    ("id", "tables"),
    [
        ("lego-table-7", 4),
        ("lego-table-8", 4),
        ("lego-table-9", 4),
        ("lego-figure-3", 4),
        ("lego-figure-4", 2),
        ("lego-table-4", 1),
        ("lego-v1-table-6", 8),
        ("analysis-table-8", 2),
        ("analysis-table-9-qwen-32b", 2),
    ],
)
def test_a_shipped_question_of_each_set(run, id, tables):
    found = run(id, "--small", "--sample", "1", "--answer", "served")
    wanted = find_experiment(id)
    assert len(found["tables"]) == tables
    for table in found["tables"]:
        assert [row["name"] for row in table["rows"]] == [
            wanted.rows[id] for id in wanted.small_rows or wanted.rows
        ]
        assert all(row["here"]["n"] == 1 for row in table["rows"]), table


@pytest.mark.parametrize(
    ("id", "sets", "metrics"),
    [
        ("lego-figure-5", ["CWQ"], ["subgraph_recall", "hits@1"]),
        (
            "lego-v1-figures-1-4",
            ["CWQ", "WebQSP"],
            ["subgraph_f1", "subgraph_recall", "path_f1", "path_recall"],
        ),
        ("lego-v1-figure-12", ["CWQ", "WebQSP"], ["hits@1", "f1"]),
    ],
)
def test_figures_that_print_no_values(run, id, sets, metrics):
    found = run(id, "--small", "--sample", "1", "--answer", "served")
    wanted = find_experiment(id)
    assert [table["title"] for table in found["tables"]] == sets
    asked = 2 if wanted.small_vary else len(wanted.small_rows)  # two values of one row
    for table in found["tables"]:
        assert table["head"] == ["method", *metrics] and len(table["rows"]) == asked
        assert all("–" not in row for row in table["rows"]), table


@pytest.mark.parametrize(
    ("id", "first"),
    [
        ("analysis-figures-6-10", ("VanillaRAG over RAPTOR", 0.58)),
        ("analysis-figure-11", ("CheapRAG over VanillaRAG", 0.68)),
    ],
)
def test_answers_to_abstract_questions_in_pairs(run, id, first):
    found = run(id, "--small", "--sample", "1", "--answer", "served")
    assert [table["metric"] for table in found["tables"]] == [
        f"win rate, {criterion}" for criterion in CRITERIA
    ]
    for table in found["tables"]:
        assert len(table["rows"]) == 2 and all(row["here"]["n"] == 1 for row in table["rows"])
    row = found["tables"][0]["rows"][0]
    assert (row["name"], row["printed"]) == first


def test_the_fifteen_methods_by_hops(run, films, tmp_path):
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    sets = [
        part for hops in "123" for part in ("--data", f"MetaQA-{hops}hop={tmp_path / 'q.jsonl'}")
    ]
    found = run("lego-figure-8", *sets, "--graph", str(films.folder), "--answer", "served")
    assert [table["metric"] for table in found["tables"]] == ["hits@1", "f1"] * 3
    for table in found["tables"]:
        assert [row["name"] for row in table["rows"]] == list(
            find_experiment("lego-figure-8").rows.values()
        )
        assert {row["here"]["n"] for row in table["rows"]} == {2}


def test_answers_by_walks(run, films, tmp_path):
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    asked = (
        "--data",
        f"MetaQA={tmp_path / 'q.jsonl'}",
        "--graph",
        str(films.folder),
        "--answer",
        "served",
    )
    found = run("walks-table-2", *asked)
    rows = found["tables"][0]["rows"]
    assert [row["name"] for row in rows] == list(find_experiment("walks-table-2").rows.values())
    assert {row["here"]["n"] for row in rows} == {2}


def test_seconds_of_answers_by_walks(run, films, tmp_path):
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    asked = ("--data", f"MetaQA={tmp_path / 'q.jsonl'}", "--graph", str(films.folder))
    (table,) = run("walks-table-2-seconds", *asked, "--answer", "served")["tables"]
    assert table["metric"] == "seconds"
    assert [row["printed"] for row in table["rows"]] == [13.03, 22.11, 23.12, 22.37, 22.12, 21.31]
    assert all(row["here"]["mean"] > 0 for row in table["rows"])


def test_crag_by_its_files(run, films, tmp_path):
    about = {"query_time": "03/19/2024", "domain": "movie", "search_results": []}
    rows = [
        {
            "interaction_id": "a",
            "query": "who directed One?",
            "answer": "Ann",
            "alt_ans": ["Annie"],
            "split": 1,
            **about,
        },
        {
            "interaction_id": "b",
            "query": "who wrote Two?",
            "answer": "Ann",
            "alt_ans": [],
            "split": 0,
            **about,
        },  # not of the public test
        {
            "interaction_id": "c",
            "query": "when was Two released?",
            "answer": "1999",
            "alt_ans": [],
            "split": 1,
            **about,
        },
    ]
    (tmp_path / "crag_task_1_and_2_dev_v4.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), "utf-8"
    )
    found = run(
        "walks-table-2",
        "--set",
        "CRAG",
        "--data",
        str(tmp_path),
        "--graph",
        f"CRAG={films.folder}",
        "--answer",
        "served",
    )
    crag = found["tables"]
    assert [table["metric"] for table in crag] == ["hits@1", "accurate", "hallucination", "missing"]
    for table in crag:
        assert [row["name"] for row in table["rows"]] == list(
            find_experiment("walks-table-2").rows.values()
        )
        assert {row["here"]["n"] for row in table["rows"]} == {2}
    hits = [row["printed"] for row in crag[0]["rows"]]
    assert hits == pytest.approx([0.1105, 0.1521, None, None, 0.1931, 0.2131])
    # walks of 3 steps, as the paper has on CRAG
    assert {row["instance"].count("length=3") for row in crag[0]["rows"][-2:]} == {1}


def test_an_index_for_each_depth_of_walks(run, films, tmp_path):
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    asked = ("--data", f"MetaQA={tmp_path / 'q.jsonl'}", "--graph", str(films.folder), "--no-llm")
    found = run("walks-figure-4", *asked)
    names = [
        f"Walk&Retrieve-{which}, length {depth}" for which in ("RW", "BFS") for depth in range(1, 7)
    ]
    for table in found["tables"]:
        assert [row["name"] for row in table["rows"]] == names and {
            row["here"]["n"] for row in table["rows"]
        } == {2}
        assert {row["printed"] for row in table["rows"]} == {None}
    made = {path.name.split("x")[1][0] for path in films.folder.glob("indexes/*/walks-*")}
    assert made == set("123456")


@pytest.fixture
def harbour(home):
    """A corpus of one long text in the home of the tests, and its question set."""
    text = " ".join(
        f"Tom Reid built the harbour of Oban in {1700 + year}. Ann Shaw of Leith sold him stone number {year}."
        for year in range(200)
    )
    asked = [Question("q0", "Who built the harbour of Oban?", answers=("Tom Reid",))]
    if not (folder := home / "corpora" / "harbour").exists():
        sets = {"harbour-asked": ("Harbour", asked)}
        write_corpus(folder, [Document("one", text, "Oban")], sets=sets)
    return "harbour-asked"


def test_chunk_sizes_each_on_a_graph_of_its_own(run, harbour, monkeypatch):
    wanted = find_experiment("analysis-table-7")
    sets = {
        name: replace(one, small=harbour if name == "MultihopQA" else "")
        for name, one in wanted.sets.items()
    }
    small = replace(wanted, sets=sets, small_rows=("vanilla-rag", "hipporag"))
    monkeypatch.setattr("core.commands.reproduce.find_experiment", lambda id: small)
    found = run("analysis-table-7", "--small", "--sample", "1", "--no-llm")
    names = [
        f"{name}, {size} tokens"
        for name in ("VanillaRAG", "HippoRAG")
        for size in ("600", "1,200", "2,400")
    ]
    assert [table["metric"] for table in found["tables"]] == ["accuracy", "token_recall"]
    for table in found["tables"]:
        assert [row["name"] for row in table["rows"]] == names and {
            row["here"]["n"] for row in table["rows"]
        } == {1}
    differences = [row["printed_difference"] for row in found["tables"][0]["rows"]]
    assert [at for at, one in enumerate(differences) if one is None] == [0, 3] and differences[
        4
    ] == pytest.approx(0.06616)


def test_summaries_among_what_is_found_in_a_tree(run, harbour):
    found = run("analysis-exp-4", "--data", f"MultihopQA={harbour}", "--build", "noun-phrases")
    assert "MultihopQA: Graphs: tree-noun-phrases for RAPTOR." in found["differs"]
    (row,) = found["tables"][0]["rows"]
    assert (
        row["printed"] == pytest.approx(0.407)
        and row["here"]["n"] == 1
        and 0 <= row["here"]["mean"] <= 1
    )


def test_a_graph_by_a_language_model_is_built_first(run, harbour, capsys):
    assert main(["reproduce", "analysis-exp-4", "--data", f"MultihopQA={harbour}"]) != EXIT_OK
    assert "corpus build harbour --graph tree-paper\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("id", "set", "value"),
    [("analysis-table-6", "MultihopQA", 3623.4), ("analysis-table-10", "Mix", 4114)],
)
def test_seconds_and_tokens_of_a_question(run, harbour, monkeypatch, id, set, value):
    wanted = find_experiment(id)
    rows = {"vanilla-rag": "VanillaRAG"}
    at = list(wanted.rows).index("vanilla-rag")
    printed = {set: {metric: (column[at],) for metric, column in wanted.printed[set].items()}}
    monkeypatch.setattr(
        "core.commands.reproduce.find_experiment",
        lambda id: replace(wanted, rows=rows, printed=printed),
    )
    seconds, tokens = run(id, "--data", f"{set}={harbour}", "--answer", "served")["tables"]
    assert seconds["metric"] == "seconds" and seconds["rows"][0]["here"]["mean"] > 0
    assert tokens["rows"][0]["printed"] == value and tokens["rows"][0]["here"]["mean"] > 0


def test_domains_of_shipped_questions(run):
    found = run("lego-figure-1", "--small", "--sample", "4")
    (table,) = found["tables"]
    assert table["head"] == ["domain", "CWQ", "WebQSP"]
    for column in (1, 2):
        assert sum(float(row[column].removesuffix(" %")) for row in table["rows"]) == pytest.approx(
            100, abs=1
        )


def test_what_a_change_of_the_graph_costs_its_walks(run, films, tmp_path):
    found = run(
        "walks-updates", "--data", "graph of MetaQA=pathquestion-2hop", "--graph", str(films.folder)
    )
    assert [table["title"] for table in found["tables"]] == [
        f"graph of MetaQA, Walk&Retrieve-{which}" for which in ("RW", "BFS")
    ]
    assert all(
        table["rows"][0][3] and table["rows"][1][0] == "1 triple more" for table in found["tables"]
    )
