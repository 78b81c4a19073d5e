"""The licences of what ships are told once, and the wheel holds what may be passed on."""

from __future__ import annotations

import re
import tomllib

import pytest

from core.io.data_folders import DataFolder, absent_data_advice, data_folder, listed_data
from core.io.home import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# Our code, core/builds/resolve/english_words.txt.gz, and static/cytoscape.min.js.
OTHER_LICENCES = {"Apache-2.0", "CC-BY-SA-4.0", "MIT"}
FREE = OTHER_LICENCES | {"CC-BY-2.5", "CC-BY-3.0"}


def identifiers(expression: str) -> set[str]:
    return set(re.split(r" (?:AND|OR) ", expression))


def test_each_folder_has_a_row():
    folders = {path.name for path in (ROOT / "data").iterdir() if path.is_dir()} - {"models"}
    folders |= {f"models/{path.name}" for path in (ROOT / "data" / "models").iterdir()}
    assert folders == set(listed_data())


def test_the_notice_names_each_folder():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    named = set(re.findall(r"data/([a-z0-9/-]*[a-z0-9])", notice))
    assert set(listed_data()) - named == set()
    shipped, _, repository_alone = notice.partition("In the repository alone")
    for name, row in listed_data().items():
        section = shipped if row.in_wheel else repository_alone
        assert re.search(rf"^- .*data/{name}\b", section, re.MULTILINE), name


def test_the_wheel_has_free_data_alone_and_its_licence_says_so():
    shipped = [row for row in listed_data().values() if row.in_wheel]
    told = identifiers(PROJECT["project"]["license"])
    assert told == OTHER_LICENCES.union(*(identifiers(row.licence) for row in shipped))
    assert told <= FREE
    kept_back = [row for row in listed_data().values() if not row.in_wheel]
    assert kept_back and all(identifiers(row.licence) - FREE for row in kept_back)


def test_the_source_archive_leaves_out_what_the_wheel_does():
    target = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]
    absent = {f"/data/{name}" for name, row in listed_data().items() if not row.in_wheel}
    assert set(target["exclude"]) == absent


@pytest.mark.parametrize("row", [row for row in listed_data().values() if row.url])
def test_an_address_is_encrypted_and_has_a_digest(row: DataFolder):
    assert row.url.startswith("https://") and re.fullmatch("[0-9a-f]{64}", row.sha256)
    ours = (ROOT / "data" / row.name / "corpus.toml").read_text("utf-8")
    assert tomllib.loads(row.description) == tomllib.loads(ours)


def test_an_absent_folder_is_named_with_the_way_to_it(tmp_path, monkeypatch):
    assert absent_data_advice("scifact") == ""
    monkeypatch.setattr("core.io.data_folders.SHIPPED_DATA", tmp_path / "data")
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    assert absent_data_advice("scifact").endswith("\n$ hopscope data --add scifact")
    assert absent_data_advice("webqsp-own").endswith("\n$ hopscope data --add webqsp-cwq")
    assert absent_data_advice("metaqa-2hop-dev") == ""
    assert data_folder("scifact") == tmp_path / "home" / "data" / "scifact"


@pytest.mark.parametrize("row", [row for row in listed_data().values() if not row.in_wheel])
def test_question_sets_of_an_absent_folder_are_known(row: DataFolder):
    for file in (ROOT / "data" / row.name).glob("*.toml"):
        sets = tomllib.loads(file.read_text("utf-8")).get("questions", {})
        assert set(sets) <= {row.name, *row.sets}
