"""`evaluate` on the command line: the object it prints, the files it writes, its exit codes."""

import csv
import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.diagnosis.causes import CAUSE_LABELS, Cause
from core.lines.text import split_at_commas
from tests.notes import NoteWith

LINE = "EgoNetwork(hops=2, keep=300) >> ShortestPaths() >> Rank(model='bm25', keep=20) >> Answer()"
PROMISED = (
    "subgraph_recall",
    "path_recall@32",
    "path_hit@32",
    "reader_hit@1",
    "hits@1",
    "f1",
    "seconds",
    "tokens_in",
    "tokens_out",
)


@pytest.fixture
def told(films, tmp_path, monkeypatch, capsys):
    """`told(*arguments)`: exit code, standard output and error of `evaluate` over three questions of the films graph."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    file = tmp_path / "mine.txt"
    file.write_text(
        "what genre has [One]\tDrama\nwho directed [Two]\tAnn\nwho is [Nobody]\tAnn\n", "utf-8"
    )

    def run(*arguments, set=str(file), methods=f"{LINE},lego-1"):
        code = main(
            [
                "evaluate",
                "--set",
                set,
                "--graph",
                str(films.folder),
                "--methods",
                methods,
                *arguments,
            ]
        )
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def test_one_object_with_every_promised_figure(told):
    code, out, _ = told("--no-llm", "--json", "--sample", "3")
    result = json.loads(out)
    assert code == EXIT_OK and list(result["instances"]) == [LINE.replace("hops=2, ", ""), "lego-1"]
    for method in result["instances"].values():
        for name in PROMISED:
            # the failed question scores 0 and has no cost
            counted = 2 if name in ("seconds", "tokens_in", "tokens_out") else 3
            assert (
                set(method["metrics"][name]) == {"mean", "low", "high", "n"}
                and method["metrics"][name]["n"] == counted
            )
        assert method["questions"] == {
            "asked": 3,
            "scored": 2,
            "failed": 1,
            "without_context": 0,
            "without_answers": 0,
        }
        assert method["answered_by"] == {"graph reader": 2}
        assert list(method["errors"])[0].startswith("“Nobody” ")
        assert (
            method["metrics"]["subgraph_recall"]["mean"]
            == method["metrics"]["path_hit@32"]["mean"]
            == pytest.approx(2 / 3)
        )
        assert method["metrics"]["tokens_in"]["mean"] == 0 < method["metrics"]["seconds"]["mean"]
    assert result["sample"] == 3 and result["of"] == 3 and result["model"] is False
    # the same questions: nothing is run again
    assert json.loads(told("--no-llm", "--json")[1])["run"] == result["run"]
    assert json.loads(told("--no-llm", "--json", "--again")[1])["run"] == result["run"] + 1


def test_a_table_and_files(told, tmp_path):
    code, out, _ = told(
        "--no-llm",
        "--metrics",
        "path_hit@1",
        "--csv",
        str(tmp_path / "t.csv"),
        "--latex",
        str(tmp_path / "t.tex"),
    )
    assert (
        code == EXIT_OK
        and "reader_hit@1" in out
        and "path_hit@1" in out
        and "lego-1" in out
        and "No language model answered" in out
    )
    assert "lego-1: 2 of 3 answered, 1 failed: “Nobody” " in out
    with (tmp_path / "t.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 6
    assert (
        (tmp_path / "t-summary.csv")
        .read_text()
        .startswith("instance,method,number,hops,metric,mean,low,high,n,answered,failed,asked\n")
    )
    assert r"\begin{tabular}" in (tmp_path / "t.tex").read_text()


def test_changes_are_tried_on_what_each_method_loses(told, tmp_path):
    """The graph reader follows the first path whatever is kept, so no change helps.

    Asked for its genre, One has Drama. The director is ranked second.
    """
    file = tmp_path / "lost.txt"
    file.write_text("what genre has [One]\tDrama\nwhat genre has One [One]\tAnn\n", "utf-8")
    line = "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25', keep=1)"
    code, out, _ = told("--no-llm", "--repairs", set=str(file), methods=line)
    assert (
        code == EXIT_OK
        and f"Of 2 questions {line} loses 1: {CAUSE_LABELS[Cause.OUTRANKED]} 1" in out
    )
    found = json.loads(told("--no-llm", "--repairs", "--json", set=str(file), methods=line)[1])[
        "repairs"
    ]
    assert [(one["instance"], one["lost"], one["within"]) for one in found] == [(line, 1, 1)]
    assert not any(one["back"] for one in found[0]["attempts"])


def test_a_prompt_of_one_s_own_is_asked_by_from_a_file(told, tmp_path):
    file = tmp_path / "mine.prompt"
    file.write_text("{paths}\n{question}", "utf-8")
    code, out, err = told("--no-llm", "--json", "--prompt", str(file))
    names = [one["name"] for one in json.loads(out)["instances"].values()]
    assert code == EXIT_OK and len(names) == 2 and all("own prompt" in name for name in names)
    assert "No. 1 keeps" not in err
    file.write_text("{tables}\n{question}", "utf-8")
    assert "No. 1 keeps its own prompt" in told("--no-llm", "--json", "--prompt", str(file))[2]
    file.write_bytes(b"\xff\xfe{question}")
    assert told("--no-llm", "--prompt", str(file))[0] == EXIT_WRONG_INPUT
    code, _, err = told("--no-llm", "--prompt", "lego-graphag")
    assert code == EXIT_WRONG_INPUT and "Did you mean “lego-graphrag”?" in err


def test_what_does_not_fit_is_told_before_anything_is_run(told):
    _, out, err = told("--no-llm", "--json")
    where = json.loads(out)["graphs"][0]
    assert NoteWith("hopscope", f"3 questions on {where}", 1, "“Nobody”") in err.splitlines()


def test_a_file_of_other_columns_is_refused_until_they_are_named(told, tmp_path):
    file = tmp_path / "wide.tsv"
    file.write_text("7\tgenre of One\tDrama\tOne\n8\tdirector of Two\tAnn\tTwo\n", "utf-8")
    code, _, err = told("--no-llm", set=str(file))
    assert code == EXIT_WRONG_INPUT and "most of its lines hold 4 columns" in err
    code, out, err = told(
        "--no-llm", "--json", "--columns", "id,question,answers,entities", set=str(file)
    )
    figures = json.loads(out)["instances"]["lego-1"]
    assert (
        code == EXIT_OK
        and figures["questions"]["scored"] == 2
        and figures["metrics"]["path_recall@32"]["mean"] == 1
        and err == ""
    )
    code, _, err = told("--no-llm", "--columns", "question,answers", set="metaqa-1hop")
    assert code == EXIT_WRONG_INPUT and "“metaqa-1hop”" in err


@pytest.mark.parametrize(
    "arguments, changed, sentence",
    [
        (["--sample", "many"], {}, "whole number or “all”"),
        (["--metrics", "path_hits@3"], {}, "Did you mean “path_hit”"),
        (["--sample", "0"], {}, "at least one question"),
        (["--judge", "--no-llm"], {}, "nothing can be judged"),
        ([], {"set": "metaqa-9hop"}, "no question set “metaqa-9hop”"),
        ([], {"methods": "lego-99"}, "lego-9)"),
        ([], {"methods": " , "}, "at least one method"),
        (["--no-llm", "--csv", "/nowhere/t.csv"], {}, "cannot be written"),
    ],
)
def test_bad_input_ends_in_a_sentence(told, arguments, changed, sentence):
    code, _, err = told(*arguments, **changed)
    assert code == EXIT_WRONG_INPUT and sentence in err and "Traceback" not in err


def test_an_method_that_answers_nothing_is_a_failure(told, tmp_path):
    file = tmp_path / "unknown.txt"
    file.write_text("who is [Nobody]\tAnn\n", "utf-8")
    code, out, _ = told("--no-llm", "--json", set=str(file))
    assert code == EXIT_FAILED and json.loads(out)["instances"]["lego-1"]["metrics"]["hits@1"] == {
        "mean": None,
        "low": None,
        "high": None,
        "n": 0,
    }


def test_a_damaged_file_of_evaluations_is_told_of(told, tmp_path):
    file = tmp_path / "home" / "evaluations.sqlite"
    file.parent.mkdir()
    file.write_bytes(b"nothing like a database " * 50)
    code, _, err = told("--no-llm")
    assert code == EXIT_WRONG_INPUT and "was left as it is" in err
    assert file.read_bytes() == b"nothing like a database " * 50
    file.unlink()


def test_commas_inside_brackets_and_quotes_do_not_part():
    assert split_at_commas("a, B(x=1, y='),(') >> C(d=prefilter(1,2)),, d ") == [
        "a",
        "B(x=1, y='),(') >> C(d=prefilter(1,2))",
        "d",
    ]
    quoted = repr("""it's "so", A()""")  # Python escapes the quote that it writes around
    assert split_at_commas(f"A(x={quoted}), B()") == [f"A(x={quoted})", "B()"]


def test_router_says_why_there_is_none(told):
    code, out, _ = told("--no-llm", "--json", "--sample", "3", "--router")
    router = json.loads(out)["router"]
    assert code == EXIT_OK and (router["line"], router["pays"]) == ("", False)
    sentence = router["sentences"][0]
    assert "nothing to choose" in sentence or "50 different questions" in sentence
    assert sentence in told("--no-llm", "--sample", "3", "--router")[1]
    assert "router" not in json.loads(told("--no-llm", "--json", "--sample", "3")[1])
