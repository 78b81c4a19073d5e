"""`search` on the command line: the object it prints, what it saves, its exit codes."""

import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.methods.catalogue import catalogue


@pytest.fixture
def told(films, tmp_path, monkeypatch, capsys):
    """`told(*arguments)`: exit code, standard output and error of `search` over the films graph."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    tune, unseen = tmp_path / "tune.txt", tmp_path / "unseen.txt"
    tune.write_text("what genre has [One]\tDrama\nwho wrote [Two]\tAnn\n", "utf-8")
    unseen.write_text("who directed [Two]\tAnn\nwhen was [Two] released\t1999\n", "utf-8")

    def run(*arguments, budget=("--budget-seconds", "60")):
        given = [
            "--set",
            str(tune),
            "--unseen",
            str(unseen),
            "--graph",
            str(films.folder),
            "--with",
            "published",
            "--trials",
            "4",
        ]
        code = main(["search", *given, *budget, *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def test_it_searches_judges_saves_and_goes_on(told):
    code, out, _ = told("--against", "lego-1", "--json", "--save", "Mine")
    found = json.loads(out)
    assert (
        code == EXIT_OK
        and len(found["trials"]) == 4
        and found["sample"] == 2
        and found["budget"] == {"seconds": 60}
    )
    best = next(one for one in found["trials"] if one["number"] == found["front"][0])
    assert (
        best["front"]
        and best["asked"] == 2
        and best["quality"] == max(one["quality"] for one in found["trials"] if not one["stopped"])
    )
    assert found["saved"] == "own-mine" and repr(catalogue()["own-mine"].line) == best["line"]
    assert "2 questions" in catalogue()["own-mine"].notes
    unseen = found["unseen"]
    first = unseen["found"][0]
    assert (
        unseen["best_published"] == "lego-1"
        and unseen["sample"] == 2
        and first["number"] == best["number"]
    )
    gain = (
        first["figures"]["reader_hit@1"]["mean"]
        - unseen["published"]["lego-1"]["reader_hit@1"]["mean"]
    )
    assert first["quality"]["difference"] == pytest.approx(gain)
    # nothing is run again: the same lines with the same seconds
    code, out, err = told("--against", "lego-1", "--save", "Mine")
    assert code == EXIT_WRONG_INPUT and "already a method" in err
    code, out, _ = told("--against", "lego-1")
    assert (
        code == EXIT_OK
        and first["words"] in out
        and "Best at their cost, by reader_hit@1 and seconds" in out
    )


def test_failed_questions_and_what_does_not_fit_are_told(told, tmp_path):
    tune = tmp_path / "tune.txt"
    tune.write_text(tune.read_text("utf-8") + "who is [Nobody]\tAnn\n", "utf-8")
    code, out, err = told("--against", "lego-1")
    assert code == EXIT_OK and ", such as “Nobody”." in err
    assert "2 of 3 answered, 1 failed: “Nobody” " in out


def test_columns_of_files_are_named_as_for_evaluate(told, tmp_path):
    tune, unseen = tmp_path / "wide.tsv", tmp_path / "wide-unseen.tsv"
    tune.write_text("7\twhat genre has One\tDrama\tOne\n8\twho wrote Two\tAnn\tTwo\n", "utf-8")
    unseen.write_text("9\twho directed Two\tAnn\tTwo\n", "utf-8")
    files = ("--set", str(tune), "--unseen", str(unseen), "--against", "lego-1")
    code, _, err = told(*files)
    assert code == EXIT_WRONG_INPUT and "most of its lines hold 4 columns" in err
    code, out, err = told(*files, "--columns", "id,question,answers,entities", "--json")
    found = json.loads(out)
    assert code == EXIT_OK and found["sample"] == 2 and found["unseen"]["sample"] == 1 and err == ""


def test_no_line_within_the_budget_is_a_failure(told):
    code, out, _ = told("--trials", "2", "--against", "lego-1", budget=("--budget-seconds", "1e-9"))
    assert (
        code == EXIT_FAILED
        and "2 stopped: over the budget" in out
        and "No method keeps within the budget" in out
    )


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--metric", "seconds"], "no quality to search by"),
        (["--with", "beyonds"], "Did you mean “beyond”"),
        (["--against", "lego-99"], "lego-9)"),
        (["--trials", "0"], "at least one method"),
        (["--save", " "], "name first"),
    ],
)
def test_bad_input_ends_in_a_sentence(told, arguments, sentence):
    code, _, err = told(*arguments)
    assert code == EXIT_WRONG_INPUT and sentence in err and "Traceback" not in err
