"""`corpus open` on the command line: a corpus made of the index of another tool."""

from __future__ import annotations

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import corpora
from tests.core.corpus.indexes.kit import RECORDED


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def said(capsys, *arguments) -> tuple[int, str, str]:
    code = main(["corpus", *map(str, arguments)])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_an_index_is_looked_at_opened_and_asked(capsys):
    code, out, err = said(capsys, "open", RECORDED / "graphrag", "--dry-run")
    assert (code, out.splitlines()[-1]) == (
        EXIT_OK,
        "Nothing was written.",
    ) and "dulce" not in corpora()
    assert "claims (covariates): 2." in err
    code, out, err = said(capsys, "open", RECORDED / "graphrag", "--name", "dulce")
    assert code == EXIT_OK and out.startswith(
        "Microsoft GraphRAG, version 3: 1 document, 2 chunks, 8 entities, 12 relations"
    )
    _, out, _ = said(capsys, "status", "dulce")
    assert (
        next(line for line in out.splitlines() if line.startswith("opened-graphrag")).split()[1]
        == "built,"
    )
    main(["ask", "Who is in the squad?", "--corpus", "dulce", "--method", "vgraphrag", "--no-llm"])
    assert "chunk dulce.txt#graphrag-0" in capsys.readouterr().out


def test_a_folder_that_is_no_index_is_a_sentence(capsys, tmp_path):
    code, out, err = said(capsys, "open", tmp_path, "--name", "x")
    assert (code, out) == (
        EXIT_WRONG_INPUT,
        "",
    ) and "holds no index that can be read. Looked for:" in err
