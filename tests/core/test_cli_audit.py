"""`audit` on the command line lists faults of a set, and saves and applies decisions on them."""

from __future__ import annotations

import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.graph.building.build import build

FILMS = {"Alpha": "Ann", "Beta": "Bob", "Gamma": "Cy", "Delta": "Dee", "Eta": "Eve"}
TRIPLES = [(film, "directed_by", name) for film, name in FILMS.items()]
HEADER = "id,question,answers,entities\n"


@pytest.fixture
def audited(tmp_path, monkeypatch, capsys):
    """`audited(rows, *arguments)`: exit code, output and error of auditing a file of these rows."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build(TRIPLES, tmp_path / "home" / "graphs" / "mine", "mine")

    def run(rows, *arguments):
        (tmp_path / "q.csv").write_text(HEADER + rows, "utf-8")
        arguments = ["--graph", "mine", "--no-vectors", *arguments]
        code = main(["audit", str(tmp_path / "q.csv"), *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def asked(**wrong):
    keys = FILMS | wrong
    return "".join(f"{film},who directed {film},{key},{film}\n" for film, key in keys.items())


def test_a_wrong_key_is_found_corrected_and_exported(audited, tmp_path):
    code, out, _ = audited(asked(Beta="Ann"), "--json", "--strict")
    result = json.loads(out)
    assert code == EXIT_FAILED and result["suspect"] == ["Beta"]
    assert result["counts"] == {"contradicted": 1}
    assert result["findings"][0]["expected"] == ["Bob"]

    exported = tmp_path / "out.jsonl"
    code, out, _ = audited(
        asked(Beta="Ann"), "--correct", "Beta=Bob", "--leave-out", "Eta", "--out", str(exported)
    )
    assert code == EXIT_OK and (tmp_path / "q.csv.audit.json").is_file()
    rows = [json.loads(line) for line in exported.read_text().splitlines()]
    assert {row["id"]: row["answers"] for row in rows} == {
        film: [key] for film, key in FILMS.items() if film != "Eta"
    }

    code, out, _ = audited(asked(Beta="Ann"), "--json", "--strict")
    result = json.loads(out)
    assert code == EXIT_OK and result["suspect"] == []
    assert result["decisions"] == {"kept": 0, "corrected": 1, "left_out": 1, "changed_since": 0}

    code, out, _ = audited(asked(Beta="Cy"), "--json")  # the next version has another key
    result = json.loads(out)
    assert result["suspect"] == ["Beta"] and result["decisions"]["changed_since"] == 1

    _, out, _ = audited(asked(), "--undo", "Beta,Eta", "--json")
    assert json.loads(out)["decisions"]["left_out"] == 0


def test_a_kept_question_is_not_listed_again(audited):
    code, out, _ = audited(asked(Beta="Ann"), "--keep", "Beta")
    assert code == EXIT_OK and "5 questions, 0 with a likely fault" in out


def test_hostile_sets_are_audited_or_refused_with_a_sentence(audited):
    assert audited("1,who directed Alpha,,\n")[0] == EXIT_OK
    assert audited("1,who directed Alpha,Ann,Alpha\n")[0] == EXIT_OK
    assert audited("1,\u202e\ufeff\u0301 ''|,\ud7ff\ue000,\ufffd\n2,?,?,?\n")[0] == EXIT_OK
    assert audited("1,谁导演了Alpha,Ann,Alpha\n2,Кто снял Alpha,Ann,Alpha\n")[0] == EXIT_OK
    code, _, error = audited("")
    assert code == EXIT_WRONG_INPUT and error.count("\n") == 1
    code, _, error = audited(asked(), "--keep", "nobody")
    assert code == EXIT_WRONG_INPUT and "nobody" in error
    code, _, error = audited(asked(), "--correct", "Beta")
    assert code == EXIT_WRONG_INPUT
    code, _, error = audited(asked(), "--evaluation", "99")
    assert code == EXIT_WRONG_INPUT and "99" in error
