"""The values that the five papers print.

Every table and figure has an entry, and values are those of the paper.
"""

from __future__ import annotations

import json
import re

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.papers.experiments import (
    Experiment,
    PublishedSet,
    find_experiment,
    papers,
    printed_tables,
)
from core.evaluation.papers.paper_comparison import MethodValues, compare_with_paper, value_texts
from core.evaluation.papers.printed_values import UpperBound, build_table
from core.evaluation.papers.win_rates import compare_pairwise_rates
from core.methods.catalogue import published_methods
from tests.core.evaluation.papers.test_paper_comparison import summary as made_summary
from tests.core.evaluation.papers.test_win_rates import MADE, ROWS, summary, tally  # noqa: F401

COUNTS = {  # the numbers of the last table and the last figure
    "LEGO-GraphRAG, technical report": (10, 9),
    "LEGO-GraphRAG v1": (8, 12),
    "In-depth Analysis of Graph-based RAG": (10, 13),
    "FastInsight": (6, 7),
    "Walk&Retrieve": (2, 4),
}
ABSTRACT = ("Mix", "MultihopSum", "Agriculture", "CS", "Legal")
CRITERIA = ("comprehensiveness", "diversity", "empowerment", "overall")


def places_of(text):
    """The tables and figures that a place names, those of another report left out."""
    text = re.sub(r"Table \d+ of the technical report", "", text.partition(";")[0])
    found = set()
    for kind, first, sign, last in re.findall(r"(Table|Figure)s? (\d+)(?: (and|to) (\d+))?", text):
        numbers = {int(first), int(last or first)}
        numbers |= set(range(min(numbers), max(numbers))) if sign == "to" else set()
        found |= {(kind, number) for number in numbers}
    return found


def test_places_are_read():
    assert places_of("Table 4 and Figure 3") == {("Table", 4), ("Figure", 3)}
    assert places_of("Tables 1 to 3, Figures 4 and 6") == {
        *(("Table", number) for number in (1, 2, 3)),
        *(("Figure", number) for number in (4, 6)),
    }
    assert places_of("Table 6; three in Table 12") == {("Table", 6)}


@pytest.mark.parametrize("paper", papers(), ids=[paper.title for paper in papers()])
def test_every_table_and_figure_has_an_entry(paper):
    tables, figures = COUNTS[paper.title]
    entries = (*paper.experiments, *paper.costs, *paper.tables)
    named = {
        one for place in (*(e.place for e in entries), *paper.elsewhere) for one in places_of(place)
    }
    assert named == {
        *(("Table", number) for number in range(1, tables + 1)),
        *(("Figure", number) for number in range(1, figures + 1)),
    }


def test_a_table_as_printed_says_where_ours_come_from():
    assert all(bool(one.made_by) != bool(one.missing) for one in printed_tables().values())
    speedups = {row[3]: row[4] for row in printed_tables()["lego-table-5"].rows}
    assert speedups["Delta-Push"] == "123–162×" and speedups["PAFO"] == "58.7×"
    assert "pagerank --distributed" in printed_tables()["lego-table-5"].source
    assert [one.id for one in printed_tables().values() if one.missing] == ["lego-table-10"]
    with pytest.raises(ValueError, match="2 cells"):
        build_table("t", "P", {"head": ["a", "b"], "rows": [["1"]]})


@pytest.mark.parametrize(
    ("id", "row"),
    [
        ("lego-table-1", ("No.14 SBE-PPR+ISAR-EEMs", "max_ent=1000", "beam_width=8, max_hop=4")),
        ("lego-table-2", ("LLMs", "glm-4-9b-chat", "9.4B")),
        ("lego-table-3", ("Freebase", "100176641", "658641", "298458255")),
        ("lego-table-4-times", ("LLM-FT", "3748", "1")),
        ("lego-table-5", ("TopPPR", "0.44", "42.08", "Delta-Push", "123–162×")),
        ("lego-table-6", ("Vector Database", "14570s", "0.85s", "0.65", "0.0023", "12.86")),
        ("lego-table-10", ("GraphRAG", "63.01", "34.18", "32.21")),
        ("lego-v1-table-5", ("GrailQA", "Entity/Number", "3,882", "983")),
        ("analysis-table-4", ("ALCE", "13,490,670", "948", "89,562", "Specific QA")),
        ("fastinsight-table-2", ("LACD", "Retrieval", "Legal", "192,974", "339,666", "89")),
        ("walks-table-1", ("questions", "9,947", "14,872", "14,274", "1,335")),
    ],
)
def test_rows_as_printed(id, row):
    assert row in printed_tables()[id].rows


def test_fine_tuning_times_as_printed():
    table = printed_tables()["lego-v1-table-8"]
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert rows["llama2-7b"]["CWQ PF"] == "10:23:41"
    assert rows["qwen2-7b"]["WebQuestion PR"] == "0:17:09"
    assert rows["Sentence-Transformers"]["WebQSP SE"] == "0:00:18"
    assert len(rows) == 4 and len(table.head) == 13


def test_language_models_of_specific_questions_as_printed():
    by_model = {
        key: find_experiment(f"analysis-table-9-{key}")
        for key in ("llama-8b", "qwen-32b", "llama-70b", "gpt-4o-mini")
    }
    values = [
        value
        for one in by_model.values()
        for columns in one.printed.values()
        for column in columns.values()
        for value in column
    ]
    assert len(values) == 120 and None not in values
    hipporag = list(by_model["llama-70b"].rows).index("hipporag")
    printed = {key: one.printed for key, one in by_model.items()}
    assert printed["llama-70b"]["ALCEAll"]["str_hit"][hipporag] == pytest.approx(0.32534)
    assert printed["gpt-4o-mini"]["MultihopQA"]["accuracy"][-1] == pytest.approx(0.68193)
    assert printed["qwen-32b"]["MultihopQA"]["token_recall"][0] == pytest.approx(0.33332)
    assert printed["llama-8b"]["ALCEAll"]["str_em"][2] == pytest.approx(0.06329)


def test_the_first_model_has_the_values_of_the_tables_that_it_made():
    mine, chunks = find_experiment("analysis-table-9-llama-8b"), find_experiment("analysis-table-7")
    every, ours = find_experiment("analysis-table-5"), find_experiment("analysis-table-8")
    for place, id in enumerate(mine.rows):
        table = every if id in every.rows else ours
        accuracy = table.printed["MultihopQA"]["accuracy"][list(table.rows).index(id)]
        assert mine.printed["MultihopQA"]["accuracy"][place] == pytest.approx(accuracy)
        if id in chunks.rows:  # three values a row, of which the second is of 1,200 tokens
            at = 3 * list(chunks.rows).index(id) + 1
            for metric, column in chunks.printed["ALCEAll"].items():
                assert mine.printed["ALCEAll"][metric][place] == pytest.approx(column[at])


def uneven(rates):
    """The pairs whose two rates do not add up to 1, and the rates in per cent."""
    ids = list(rates)
    pairs = [(a, b) for place, a in enumerate(ids) for b in ids[place + 1 :]]
    return {
        (a, b): (round(100 * rates[a][b]), round(100 * rates[b][a]))
        for a, b in pairs
        if round(100 * (rates[a][b] + rates[b][a])) != 100
    }


def test_win_rates_of_abstract_questions_as_printed():
    rates = find_experiment("analysis-figures-6-10").duels
    assert tuple(rates) == ABSTRACT and all(tuple(one) == CRITERIA for one in rates.values())
    every = [value for one in rates.values() for table in one.values() for value in table.values()]
    assert sum(map(len, every)) == 500
    for one in rates.values():
        for table in one.values():
            assert [table[id][id] for id in table] == [0.5] * 5
    assert rates["Mix"]["comprehensiveness"]["h-lightrag"]["ggraphrag"] == 0.85
    assert rates["CS"]["empowerment"]["raptor"]["fastgraphrag"] == 1
    assert rates["Agriculture"]["overall"]["raptor"]["ggraphrag"] == 0.16
    assert rates["Legal"]["diversity"]["fastgraphrag"]["vanilla-rag"] == 0.10
    odd = {
        (name, criterion): found
        for name, one in rates.items()
        for criterion, table in one.items()
        if (found := uneven(table))
    }
    assert odd == {
        ("Mix", "empowerment"): {("raptor", "ggraphrag"): (45, 54)},
        ("MultihopSum", "comprehensiveness"): {("vanilla-rag", "ggraphrag"): (2, 78)},
        ("MultihopSum", "diversity"): {("raptor", "ggraphrag"): (42, 55)},
        ("MultihopSum", "empowerment"): {("raptor", "ggraphrag"): (45, 54)},
        ("Legal", "diversity"): {("raptor", "ggraphrag"): (68, 33)},
    }


def test_win_rates_of_cheaprag_as_printed():
    figure = find_experiment("analysis-figure-11")
    assert figure.against == "cheaprag" and tuple(figure.duels) == ABSTRACT
    rates = [table for one in figure.duels.values() for table in one.values()]
    assert all(list(table) == ["cheaprag"] and len(table["cheaprag"]) == 5 for table in rates)
    assert len(rates) == 20
    assert figure.duels["Mix"]["diversity"]["cheaprag"]["h-lightrag"] == 0.22
    assert figure.duels["MultihopSum"]["comprehensiveness"]["cheaprag"]["fastgraphrag"] == 1
    assert figure.duels["Legal"]["overall"]["cheaprag"]["raptor"] == 0.46


def test_win_rates_by_chunks_and_models_as_printed():
    rates = {
        key: find_experiment(f"analysis-figure-12-{key}").duels["MultihopSum"]["overall"]
        for key in ("chunks-600", "chunks-2400", "qwen-32b", "llama-70b", "gpt-4o-mini")
    }
    assert all([len(row) for row in table.values()] == [5] * 5 for table in rates.values())
    assert rates["chunks-600"]["h-lightrag"]["fastgraphrag"] == 0.29
    assert rates["chunks-2400"]["vanilla-rag"]["h-lightrag"] == 0.62
    assert rates["llama-70b"]["fastgraphrag"]["raptor"] == 0.03
    assert rates["gpt-4o-mini"]["vanilla-rag"]["raptor"] == 0.72
    assert {key: found for key, table in rates.items() if (found := uneven(table))} == {
        "chunks-600": {("ggraphrag", "fastgraphrag"): (71, 19)}
    }


def test_fastinsights_own_win_rates_have_the_means_that_it_prints():
    rates = find_experiment("fastinsight-figure-3").duels
    assert rates["ACL-OCL"]["overall"]["fastinsight"]["gar"] == pytest.approx(0.471)
    averages = [55.8, 59.0, 63.2, 55.3, 64.6, 55.9, 65.0, 56.6, 55.0]
    rows = [one["overall"]["fastinsight"] for one in rates.values()]
    for id, average in zip(find_experiment("fastinsight-figure-3").rows, averages):
        known = [row[id] for row in rows if id in row]
        assert 100 * sum(known) / len(known) == pytest.approx(average, abs=0.0501)


def test_seconds_of_the_modules_add_up_to_those_of_the_method():
    printed = find_experiment("lego-v1-table-6").printed
    stages = ("extract_seconds", "retrieve_seconds", "refine_seconds")
    assert sum(len(columns[stage]) for columns in printed.values() for stage in stages) == 252
    for columns in printed.values():
        for whole, *parts in zip(columns["seconds"], *(columns[stage] for stage in stages)):
            # bounds count as half; each value is rounded to a hundredth
            known = [part / 2 if isinstance(part, UpperBound) else part for part in parts]
            assert sum(known) == pytest.approx(whole, abs=0.0151)
    assert printed["CWQ"]["refine_seconds"][17] == 11.3
    assert printed["WebQuestions"]["retrieve_seconds"][8] == 0.05
    assert str(printed["WebQSP"]["retrieve_seconds"][5]) == "<0.01"


def test_other_columns_as_printed():
    walks, ircot = find_experiment("walks-table-2-seconds"), find_experiment("fastinsight-table-5")
    assert walks.printed["MetaQA"]["seconds"] == (13.03, 22.11, 23.12, 22.37, 22.12, 21.31)
    assert walks.printed["CRAG"]["seconds"] == (14.14, 26.01, None, None, 22.15, 23.34)
    assert walks.cold and walks.rows == find_experiment("walks-table-2").rows
    assert ircot.printed["SciFact-G"]["capped_node_recall@10"] == pytest.approx((0.314, 0.351))
    assert ircot.printed["SciFact-G"]["seconds"] == (5.03, 2.12)
    assert find_experiment("lego-table-4").printed["WebQSP"]["calls"] == (1, 12.3)


def test_a_bound_is_shown_as_printed_and_has_no_difference():
    bound = UpperBound.parse("<0.01")
    row = MethodValues("a", "A", bound, Estimate(0.5, 0.4, 0.6, 30))
    assert value_texts("seconds", row)[1] == "<0.01" and 0 < bound < 0.01
    with pytest.raises(ValueError, match="no upper bound"):
        UpperBound.parse("0.01")
    made = Experiment(
        "made",
        "A paper",
        "Table 1",
        "Made",
        {"a": "A", "b": "B"},
        {"Films": {"accuracy": (0.2, bound)}},
        {"Films": PublishedSet("Films", "nowhere")},
        "nobody",
        (),
        1,
    )
    (found,) = compare_with_paper(made, "Films", made_summary(4))
    assert found.rows[1].printed_difference is None and found.rows[1].difference is not None


def test_win_rates_of_two_methods_beside_the_tally(summary, tally):  # noqa: F811
    rates = {"overall": {"d": {"a": 0.8, "b": 0.7, "d": 0.5}, "c": {"d": 0.4}}}
    made = Experiment(**{**vars(MADE), "wins": {}, "duels": {"Films": rates}})
    (found,) = compare_pairwise_rates(made, "Films", summary, tally)
    assert found.metric == "win rate, overall"
    assert [(row.name, row.printed, row.here.mean, row.here.n) for row in found.rows] == [
        ("D over A", 0.8, 1, 2),
        ("D over B", 0.7, 0.5, 2),
        ("C over D", 0.4, 1, 2),
    ]
    # one pair in order, one the other way round, one tied here
    assert found.tau == pytest.approx(0)
    assert compare_pairwise_rates(made, "Bare", summary, tally) == []


def test_a_method_that_was_not_asked_has_no_row(summary, tally):  # noqa: F811
    rates = {"overall": {"d": {"a": 0.8, "e": 0.7}}}
    rows = {**ROWS, "e": "E"}
    made = Experiment(**{**vars(MADE), "rows": rows, "wins": {}, "duels": {"Films": rates}})
    assert [row.name for row in compare_pairwise_rates(made, "Films", summary, tally)[0].rows] == [
        "D over A"
    ]


def test_a_pair_that_was_not_judged_has_no_value_here(summary):  # noqa: F811
    made = Experiment(**{**vars(MADE), "duels": {"Films": {"overall": {"a": {"b": 0.6}}}}})
    (found,) = compare_pairwise_rates(
        made, "Films", summary, PairwiseTally(tuple(ROWS), (), 0, "a judge")
    )
    assert found.rows[0].here.mean is None and found.tau is None


def test_win_rates_stand_on_the_methods_of_a_set():
    figure, methods = find_experiment("analysis-figure-12-chunks-600").for_question_set(
        published_methods(), "MultihopSum"
    )
    rates = figure.duels["MultihopSum"]["overall"]
    assert list(rates) == list(figure.rows) == [one.id for one in methods]
    assert figure.rows[methods[0].id] == "VanillaRAG, 600 tokens"
    assert rates[methods[0].id][methods[3].id] == 0.78
    small, asked = find_experiment("analysis-figure-12-chunks-600").for_question_set(
        published_methods(), "MultihopSum", small=True
    )
    assert (
        set(small.rows) == {one.id for one in asked} <= set(small.duels["MultihopSum"]["overall"])
    )


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """`told(*arguments)`: the exit code of `reproduce`, and what it printed."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))

    def run(*arguments):
        code = main(["reproduce", *arguments])
        return code, capsys.readouterr()

    return run


@pytest.mark.parametrize("paper", papers(), ids=[paper.title for paper in papers()])
def test_the_printed_side_of_every_entry(told, paper):
    for one in (*paper.experiments, *paper.costs, *paper.tables):
        code, out = told(one.id, "--printed", "--json")
        shown = json.loads(out.out)
        assert code == EXIT_OK and shown["experiment"] == one.id and shown["needs"]
        for table in shown["tables"]:
            assert table["rows"] and {len(row) for row in table["rows"]} == {len(table["head"])}


def test_printed_values_without_any_data(told, tmp_path):
    code, out = told("analysis-table-8", "--printed")
    assert code == EXIT_OK and "0.59664" in out.out and "MusiqueQA: MuSiQue" in out.out
    assert "Nothing of it ships" in out.out
    code, out = told("lego-v1-table-6", "--printed", "--out", str(tmp_path / "t.md"))
    assert code == EXIT_OK and "| <0.01 |" in (tmp_path / "t.md").read_text("utf-8")
    code, out = told("lego-figure-5", "--printed")
    assert code == EXIT_OK and "no values" in out.out and "cwq-own" in out.out
    assert told("analysis-figures-4-5", "--printed")[0] == EXIT_OK
    code, out = told("analysis-table-8")
    assert code == EXIT_WRONG_INPUT and "--printed" in out.err
    assert told("analysis-figures-6-10", "--small", "--no-llm")[0] == EXIT_WRONG_INPUT


def test_a_win_rate_table_has_a_row_a_winner(told):
    tables = json.loads(told("analysis-figure-11", "--printed", "--json")[1].out)["tables"]
    assert len(tables) == 20 and tables[0]["head"][1:] == [
        "VanillaRAG",
        "RAPTOR",
        "GGraphRAG",
        "HLightRAG",
        "FastGraphRAG",
    ]
    assert tables[0]["rows"] == [["CheapRAG", "0.68", "0.77", "0.73", "0.68", "0.97"]]
