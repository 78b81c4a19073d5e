"""A language model may think, leave a reply blank or cut, or read a prompt in part.

Each is told on the command line, in figures and in builds.
"""

from __future__ import annotations

import csv
import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, main
from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream

TRIPLES = "Ida\tpainted\tKite\nNils\tbuilt\tKite\nKite\tflies over\tBay\n"
LINE = "PersonalizedPageRank() >> ShortestPaths() >> Answer(role='served')"
THINKING = "The model was still thinking when its 4,352 tokens were used up."
WRONG_ANSWER = "<think>Is it Ida? No.</think>\nNils built it."


@pytest.fixture
def served(tmp_path, monkeypatch, capsys):
    """`served(reply, *arguments)` runs a command beside a server of a language model.

    It gives the exit code, output and errors of the command, and the requests that the server got.
    The server replies `reply(request, number)`.
    """
    home, seen, replies = tmp_path / "home", [], []
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    home.mkdir()
    triples = tmp_path / "kites.tsv"
    triples.write_text(TRIPLES, "utf-8")

    def run(reply, *arguments):
        replies[:], seen[:] = [reply], []
        code = main([str(argument) for argument in arguments])
        out = capsys.readouterr()
        return code, out.out, out.err, list(seen)

    def answer(handler, body):
        seen.append(body)
        stream(handler, replies[0](body, len(seen)))

    run.graph, run.folder = tmp_path / "kites", tmp_path
    with serving(answer) as (url, _):
        row = f'[model.served]\nkind = "chat"\nbackend = "openai"\nurl = "{url}"\nmodel = "m"\n[roles]\nchoose = "served"\n'
        (home / "models.toml").write_text(row, "utf-8")
        assert run(None, "build", triples, "--out", run.graph)[0] == EXIT_OK
        yield run


def ask(served, reply, *more, line=LINE):
    return served(
        lambda *_: reply,
        "ask",
        "who painted Kite",
        "--graph",
        served.graph,
        "--method",
        line,
        *more,
    )


def test_ask_shows_the_answer_and_says_that_there_was_a_thought(served):
    code, out, _, _ = ask(served, sent(*texts(WRONG_ANSWER)))
    assert (
        code == EXIT_OK
        and "  answer: Nils built it.\n  thought, no part of the answer: 14 characters; --json shows it\n"
        in out
    )
    (lane,) = json.loads(ask(served, sent(*texts(WRONG_ANSWER)), "--json")[1])["lanes"]
    assert (lane["answer"], lane["thought"], lane["operators"][-1]["thoughts"]) == (
        "Nils built it.",
        "Is it Ida? No.",
        ["Is it Ida? No."],
    )


def test_a_thought_that_names_the_answer_scores_nothing(served):
    questions = served.folder / "asked.csv"
    questions.write_text("question,answers,entities\nwho painted Kite,Ida,Kite\n", "utf-8")
    table = served.folder / "rows.csv"
    arguments = (
        "evaluate",
        "--set",
        questions,
        "--graph",
        served.graph,
        "--sample",
        "all",
        "--methods",
        LINE,
        "--json",
        "--csv",
        table,
    )
    _, out, _, _ = served(lambda *_: sent(*texts(WRONG_ANSWER)), *arguments)
    (found,) = json.loads(out)["instances"].values()
    assert (found["metrics"]["hits@1"]["mean"], found["metrics"]["f1"]["mean"]) == (0.0, 0.0)
    (row,) = csv.DictReader(table.open(newline=""))
    assert (row["answer"], row["answer_fault"]) == ("Nils built it.", "")


def test_an_evaluation_says_which_answers_are_blank(served):
    questions = served.folder / "asked.csv"
    questions.write_text("question,answers,entities\nwho painted Kite,Ida,Kite\n", "utf-8")
    arguments = (
        "evaluate",
        "--set",
        questions,
        "--graph",
        served.graph,
        "--sample",
        "all",
        "--methods",
        LINE,
    )
    _, out, _, _ = served(lambda *_: sent({"content": ""}, finish="content_filter"), *arguments)
    assert "1 of 1 answers blank or cut: " in out


def test_a_choice_is_read_behind_the_thought(served):
    line = LINE.replace("Answer(", "Rank(model='choose', keep=1) >> Answer(")

    def reply(body, number):
        choosing = "choices" in json.dumps(body)
        return sent(*texts('<think>Is it [1]? No.</think>{"choices": [2]}' if choosing else "Ida"))

    _, out, _, _ = served(
        reply, "ask", "who painted Kite", "--graph", served.graph, "--method", line, "--json"
    )
    (lane,) = json.loads(out)["lanes"]
    _, plain, _, _ = served(
        lambda *_: sent(*texts("Ida")),
        "ask",
        "who painted Kite",
        "--graph",
        served.graph,
        "--method",
        LINE,
        "--json",
    )
    second = json.loads(plain)["lanes"][0]["paths"][1]["text"]
    assert [path["text"] for path in lane["paths"]] == [second]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            sent(*texts("<think>\nWell, "), finish="length"),
            f"  answer: (none)\n  {THINKING}\n",
        ),
        (
            sent({"reasoning_content": "Well, "}, finish="length"),
            f"  answer: (none)\n  {THINKING}\n",
        ),
        (sent({"content": None}), "  answer: (none)\n  The model sent an empty reply.\n"),
        (
            sent(*texts("Ida pai"), finish="length"),
            "  answer: Ida pai\n  The answer was cut at 256 tokens.\n",
        ),
    ],
    ids=["tagged", "in a field", "empty", "cut"],
)
def test_ask_says_why_an_answer_is_blank_or_cut_and_asks_again(served, reply, said):
    assert said in ask(served, reply)[1]
    assert "  answer: Ida\n" in ask(served, sent(*texts("Ida")))[1]
    assert not ask(served, sent(*texts("Nils")))[3]  # a whole one is saved


def test_a_prompt_that_the_server_cut_fails_the_lane_with_what_to_do(served):
    usage = {"prompt_tokens": 64, "completion_tokens": 1, "total_tokens": 65}
    line = LINE.replace("Answer(", "Answer(prompt='reasoning-paths', shots=3, ")
    code, out, _, _ = ask(served, sent(*texts("Ida"), usage=usage), line=line)
    assert (
        code == EXIT_FAILED
        and "read 64 tokens of a prompt of at least" in out
        and "num_ctx" in out
        and "--max-model-len" in out
    )
    whole = {"prompt_tokens": 5000, "completion_tokens": 1, "total_tokens": 5001}
    assert "  answer: Ida\n" in ask(served, sent(*texts("Ida"), usage=whole), line=line)[1]


def test_a_row_whose_prompts_the_server_cut_fails_with_what_to_do(served):
    questions, table = served.folder / "asked.csv", served.folder / "rows.csv"
    questions.write_text(
        "question,answers,entities\nwho painted Kite,Ida,Kite\nwho built Kite,Nils,Kite\n", "utf-8"
    )
    line = LINE.replace("Answer(", "Answer(prompt='reasoning-paths', shots=3, ")
    usage = {"prompt_tokens": 64, "completion_tokens": 1, "total_tokens": 65}
    cut = lambda body, _: sent(
        *texts("Ida"), usage=usage if "who painted" in body["messages"][-1]["content"] else None
    )
    arguments = (
        "evaluate",
        "--set",
        questions,
        "--graph",
        served.graph,
        "--sample",
        "all",
        "--methods",
        line,
    )
    code, out, _, _ = served(cut, *arguments, "--csv", table)
    assert (
        code == EXIT_OK
        and ": 1 of 2 answered, 1 failed: The server at " in out
        and "num_ctx" in out
    )
    rows = {row["question"]: row for row in csv.DictReader(table.open(newline=""))}
    failed, answered = rows["who painted Kite"], rows["who built Kite"]
    assert "read 64 tokens of a prompt of at least" in failed["error"] and (
        failed["answer"],
        failed["hits@1"],
    ) == ("", "")
    assert (answered["error"], answered["answer"], answered["hits@1"]) == ("", "Ida", "0")
    code, out, _, seen = served(lambda *_: sent(*texts("Ida")), *arguments, "--csv", table)
    assert code == EXIT_OK and "failed" not in out and len(seen) == 1  # the other reply was whole


def test_a_build_without_a_readable_reply_fails_and_is_built_by_the_same_command(served):
    (served.folder / "notes").mkdir()
    (served.folder / "notes" / "a.txt").write_text("Ida painted the Kite. Nils built it.", "utf-8")
    assert (
        served(lambda *_: "", "corpus", "add", "--name", "notes", served.folder / "notes")[0]
        == EXIT_OK
    )
    built = (
        "corpus",
        "build",
        "notes",
        "--graph",
        "rkg",
        "--extractor",
        "llm",
        "--model",
        "served",
        "--yes",
    )
    code, _, err, seen = served(lambda *_: sent(*texts("I would rather not.")), *built)
    assert code == EXIT_FAILED and len(seen) == 2
    assert (
        "could be read, so nothing was built" in err
        and "Build it again" in err
        and "goes on" not in err
    )
    assert "not built" in served(lambda *_: "", "corpus", "status", "notes")[1]
    whole = {
        "entities": [{"name": "Ida"}, {"name": "Nils", "type": None}],
        "relations": [{"source": "Ida", "target": "Kite"}],
    }
    code, out, _, _ = served(lambda *_: sent(*texts(f"```json\n{json.dumps(whole)}\n```")), *built)
    assert code == EXIT_OK and "3 nodes, 1 edges" in out
