"""`export --claim` and `verify` on the command line: what they print, and their exit codes."""

import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.evaluation.runs.store import Store, evaluations_file

WALKS = "RandomWalks(walks=1, steps=1) >> ShortestPaths()"


@pytest.fixture
def told(films, tmp_path, monkeypatch, capsys):
    """`told(*arguments)`: exit code, standard output and error; evaluation 1 is a run with repeats."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    file = tmp_path / "mine.txt"
    file.write_text("what genre has [One]\tDrama\nwho directed [Two]\tAnn\n", "utf-8")

    def run(*arguments):
        code = main(list(map(str, arguments)))
        out = capsys.readouterr()
        return code, out.out, out.err

    words = ["--set", file, "--graph", films.folder, "--methods", f"{WALKS},lego-1"]
    code, out, err = run("evaluate", *words, "--no-llm", "--repeats", 3, "--sample", "all")
    assert code == EXIT_OK and "3 runs" in out and "Run once" in err
    return run


def test_a_claim_is_equal_until_it_is_changed(told, tmp_path):
    folder = tmp_path / "claim"
    code, out, err = told("export", 1, "--claim", folder)
    assert code == EXIT_OK and str(folder) in out and "Left out: the data" in err
    code, out, _ = told("verify", folder, "--rows", 1)
    assert code == EXIT_OK and "≠" not in out and "1 of 2 rows run again, all equal" in out
    rows = (folder / "rows.jsonl").read_text().splitlines()
    assert len(rows) == 2 * (3 + 1)
    (folder / "rows.jsonl").write_text(
        "\n".join([rows[0].replace('"golds": 1', '"golds": 2'), *rows[1:]])
    )
    code, out, _ = told("verify", folder, "--json")
    states = {one["subject"]: one["state"] for one in json.loads(out)["checks"]}
    assert code == EXIT_FAILED and states["files"] == "differs" == states["figures"]


def test_a_claim_needs_the_number_of_an_evaluation(told, tmp_path):
    for names in (["shipped"], [1, 2], [99]):
        code, _, err = told("export", *names, "--claim", tmp_path / "claim")
        assert code == EXIT_WRONG_INPUT and err
    assert told("verify", tmp_path / "nothing")[0] == EXIT_WRONG_INPUT
    assert not (tmp_path / "claim").exists()


def test_the_command_of_a_claim_makes_the_same_run(told, tmp_path):
    import shlex

    told("export", 1, "--claim", tmp_path / "claim")
    facts = json.loads((tmp_path / "claim" / "claim.json").read_text())
    code, out, _ = told(*shlex.split(facts["command"])[1:])
    assert code == EXIT_OK and "run 1" in out
    assert [run.key for run in Store(evaluations_file()).runs()] == [facts["key"]]
