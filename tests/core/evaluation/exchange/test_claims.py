"""Claims: an untouched one is equal, and each thing that was changed is found."""

import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.databases.live_database import LIVE_FILE
from core.errors import BadInput
from core.evaluation.exchange import claims
from core.evaluation.exchange.claim_checks import DIFFERS, EQUAL, NOT_HERE, read_claim, verify_claim
from core.evaluation.exchange.claims import forbidding_licence, run_command, write_claim
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import evaluation_key
from core.evaluation.runs.repeats import with_repeats
from core.io.digests import with_digest, write_digests
from core.sources import GraphSource

WALKS = "RandomWalks(walks=1, steps=1) >> ShortestPaths()"
FIXED = "EgoNetwork() >> ShortestPaths()"


@pytest.fixture
def claim(bench, tmp_path):
    """The folder of a claim of two methods, one with repeats."""
    methods = bench.method("f", FIXED), bench.method("w", WALKS)
    plan = with_repeats(bench.plan(*methods, model=False), 2, bench.models)
    job = bench.run(plan)
    folder = tmp_path / "claim"
    write_claim(bench.engine, bench.store(), bench.store().run(job.number), folder)
    return folder


def checked(bench, folder, **wishes):
    return {each.subject: each for each in verify_claim(bench.engine, folder, **wishes)}


def differing(bench, folder):
    return {name for name, each in checked(bench, folder).items() if each.state == DIFFERS}


def rewritten(folder, name, change, redo=True):
    """Change a file of a claim; with `redo` its digests are made anew, as a forger would."""
    file = folder / name
    if name == "claim.json":
        facts = json.loads(file.read_text())
        change(facts)
        facts.pop("sha256")
        file.write_text(json.dumps(with_digest(facts)))
    else:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        change(lines)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if redo:
        (folder / "files.json").unlink()
        write_digests(folder)


def test_an_untouched_claim_is_equal(bench, claim):
    found = checked(bench, claim)
    assert not {name for name, each in found.items() if each.state == DIFFERS}
    for name in ("files", "settings", "figures", "code", "F, run again", "W, run again"):
        assert found[name].state == EQUAL, found[name]
    assert "4 of 4 rows run again, all equal" in found["F, run again"].text
    assert found["sample"].state == NOT_HERE  # no set of that name is here
    assert "8 of 8 rows run again, all equal" in found["W, run again"].text  # and their repeats
    assert "2 of 8" in checked(bench, claim, limit=1)["W, run again"].text


@pytest.mark.parametrize("redo", [False, True])
def test_a_changed_row_is_found(bench, claim, redo):
    def add_a_node(lines):
        row = next(line for line in lines if line["outcome"] and line["method"] == "f")
        row["outcome"]["extracted"]["nodes"] += 1

    rewritten(claim, "rows.jsonl", add_a_node, redo)
    found = differing(bench, claim)
    assert {"figures", "F, run again"} <= found and ("files" in found) != redo


def test_a_changed_row_with_figures_to_match_is_found_by_running_it_again(bench, claim):
    def add_a_node(lines):
        for line in lines:
            if line["method"] == "f" and line["question"] == "q-1":
                line["outcome"]["extracted"]["nodes"] += 1

    rewritten(claim, "rows.jsonl", add_a_node)
    read = read_claim(claim)
    figures = claims.figures_of(RunSummary(read.run, read.rows), list(read.facts.definitions))
    rewritten(claim, "claim.json", lambda facts: facts.update(figures=figures))
    assert differing(bench, claim) == {"F, run again"}
    assert "q-1" in checked(bench, claim)["F, run again"].text


@pytest.mark.parametrize("redo", [False, True])
def test_a_changed_figure_is_found(bench, claim, redo):
    def improve(facts):
        facts["figures"]["means"]["w"]["reader_hit@1"]["mean"] = 0.99

    rewritten(claim, "claim.json", improve, redo)
    found = checked(bench, claim)
    assert found["figures"].state == DIFFERS and "0.99" in found["figures"].text
    assert (found["files"].state == DIFFERS) != redo


def test_a_changed_setting_is_found(bench, claim):
    rewritten(claim, "claim.json", lambda facts: facts["run"].update(seed=7))
    assert "settings" in differing(bench, claim)


def test_a_changed_setting_with_its_key_and_command_is_found_by_running_again(bench, claim):
    def other_line(facts):
        facts["run"]["instances"][0]["line"] = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        facts["key"] = evaluation_key(facts["run"])
        facts["command"] = facts["command"].replace(FIXED, facts["run"]["instances"][0]["line"])

    rewritten(claim, "claim.json", other_line)
    found = checked(bench, claim)
    assert found["settings"].state == EQUAL
    assert {subject for subject, each in found.items() if each.state == DIFFERS}


def test_a_changed_question_is_found(bench, claim):
    def reword(lines):
        lines[0]["question"]["answers"] = ["Comedy"]

    rewritten(claim, "questions.jsonl", reword)
    assert "settings" in differing(bench, claim)


def of_file(name, change, redo=True):
    return lambda folder: rewritten(folder, name, change, redo)


def put(*path, value):
    """A change of one value in a file; an index chooses a line."""

    def change(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


DEEP = "[" * 100_000
HOSTILE = {
    "no code": of_file("claim.json", lambda facts: facts.pop("code")),
    "later format": of_file("claim.json", put("format", value=2)),
    "data no dict": of_file("claim.json", put("data", value=[])),
    "no instances": of_file("claim.json", put("run", "instances", value=None)),
    "no seed": of_file("claim.json", put("run", "seed", value="x")),
    "no line": of_file("claim.json", put("run", "instances", 0, "line", value=7)),
    "no set": of_file("questions.jsonl", put(0, "set", value=None)),
    "no answers": of_file("questions.jsonl", put(0, "question", "answers", value=3)),
    "texts left out": of_file("questions.jsonl", put(0, "question", "left_out", value={"a": 1e12})),
    "no golds": of_file("rows.jsonl", put(0, "outcome", "golds", value="x")),
    "huge": of_file("rows.jsonl", put(0, "outcome", "extracted", "nodes", value=10**400)),
    "neither outcome nor error": of_file("rows.jsonl", put(0, "outcome", value=None)),
    "repeat": of_file("rows.jsonl", put(0, "repeat", value=None)),
    "deep": lambda folder: (folder / "claim.json").write_text(DEEP),
    "deep rows": lambda folder: (folder / "rows.jsonl").write_text(DEEP),
    "empty": lambda folder: (folder / "questions.jsonl").write_text(""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_content_that_does_not_fit_is_refused(bench, claim, name):
    HOSTILE[name](claim)
    with pytest.raises(BadInput):
        checked(bench, claim)


def test_a_pipe_in_place_of_a_file_is_refused(bench, claim):
    (claim / "rows.jsonl").unlink()
    os.mkfifo(claim / "rows.jsonl")
    with pytest.raises(BadInput, match="no file"):
        checked(bench, claim)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x"])
def test_digests_of_files_outside_of_the_folder_are_not_read(bench, claim, name):
    digests = json.loads((claim / "files.json").read_text())
    (claim / "files.json").write_text(json.dumps(digests | {name: [1, "0"]}))
    found = checked(bench, claim)["files"]
    assert found.state == DIFFERS and "outside" in found.text


def test_left_out_rows_are_found(bench, claim):
    """Else the figures could be those of the questions that a method has right."""

    def drop(lines):
        lines[:] = [one for one in lines if (one["method"], one["question"]) != ("f", "q-1")]

    rewritten(claim, "rows.jsonl", drop)
    read = read_claim(claim)
    figures = claims.figures_of(RunSummary(read.run, read.rows), list(read.facts.definitions))
    rewritten(claim, "claim.json", lambda facts: facts.update(figures=figures))
    assert differing(bench, claim) == {"rows"}
    rewritten(claim, "claim.json", lambda facts: facts.update(status="cancelled"))
    found = checked(bench, claim)["rows"]
    assert found.state == NOT_HERE and "1 rows" in found.text
    rewritten(claim, "rows.jsonl", lambda lines: lines.append(lines[0] | {"method": "other"}))
    assert "rows" in differing(bench, claim)


def test_a_changed_repeat_is_found_by_running_it_again(bench, claim):
    def add_a_node(lines):
        row = next(line for line in lines if line["repeat"] == 1 and line["outcome"])
        row["outcome"]["extracted"]["edges"] += 1  # no metric counts edges

    rewritten(claim, "rows.jsonl", add_a_node)
    assert differing(bench, claim) == {"W, run again"}
    assert ", repeat 1: extracted edges" in checked(bench, claim)["W, run again"].text


def test_a_database_in_a_folder_is_not_opened(bench, claim, tmp_path, monkeypatch):
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / LIVE_FILE).write_text('[endpoint]\nurl = "http://127.0.0.1:9/"\n')
    monkeypatch.chdir(tmp_path)
    for name in ("evil", str(tmp_path / "evil")):

        def name_it(lines, name=name):
            for line in lines:
                line["graph"] = name

        rewritten(claim, "questions.jsonl", name_it)
        rewritten(claim, "claim.json", lambda facts, name=name: facts.update(data={name: "0"}))
        monkeypatch.setattr(type(bench.engine), "graph", lambda *_: pytest.fail("opened"))
        found = checked(bench, claim)
        assert found[f"data {name}"].state == found["sample"].state == NOT_HERE
        assert "F, run again" not in found


def test_a_model_that_is_not_declared_here_is_named(bench, claim):
    line = f"{FIXED} >> Rank(model='elsewhere')"
    rewritten(claim, "claim.json", put("run", "instances", 0, "line", value=line))
    found = checked(bench, claim)
    assert found["model elsewhere"].state == found["F, run again"].state == NOT_HERE
    assert "elsewhere" in found["F, run again"].text


def test_several_graphs_are_named_by_their_sets_alone(bench):
    plan = bench.plan(bench.method("f", FIXED), model=False)
    assert "--graph" in run_command(plan.spec(""), plan.drawn)
    other = replace(plan.drawn[0], source=GraphSource("other"))
    assert "--graph" not in run_command(plan.spec(""), (other, *plan.drawn[1:]))


def test_other_data_and_a_missing_digest_are_found(bench, claim):
    def other(facts):
        facts["run"]["graphs"][0][1] = "0"
        facts["data"] = dict(facts["run"]["graphs"])
        facts["key"] = evaluation_key(facts["run"])

    rewritten(claim, "claim.json", other)
    (name,) = (each for each in differing(bench, claim) if each.startswith("data"))
    (claim / "files.json").write_text("{}")
    assert "files" in differing(bench, claim)


def test_methods_with_language_models_run_again_only_when_asked(bench, tmp_path, monkeypatch):
    info = SimpleNamespace(kind="chat", backend="llama", present=True, profile=None)
    monkeypatch.setattr(bench.models, "info", lambda name: info)
    job = bench.run(bench.plan(bench.method("a", f"{FIXED} >> Answer()")))
    write_claim(bench.engine, bench.store(), bench.store().run(job.number), tmp_path / "c")
    silent = checked(bench, tmp_path / "c")["A, run again"]
    assert silent.state == NOT_HERE and "--llm" in silent.text
    assert checked(bench, tmp_path / "c", use_models=True)["A, run again"].state == EQUAL


def test_texts_that_a_licence_forbids_are_left_out_and_said(bench, tmp_path, monkeypatch):
    """Their figures are checked without them, and of each question its digest stays."""
    monkeypatch.setattr(claims, "forbidding_licence", lambda spec: "films: unknown")
    job = bench.run(bench.plan(bench.method("f", FIXED), model=False))
    folder = tmp_path / "bare"
    said = write_claim(bench.engine, bench.store(), bench.store().run(job.number), folder)
    assert any("films: unknown" in sentence for sentence in said)
    texts = "".join((folder / name).read_text() for name in ("rows.jsonl", "questions.jsonl"))
    for question in bench.questions:
        assert question.text not in texts
        assert not any(answer in texts for answer in question.answers)
    record = json.loads((folder / "questions.jsonl").read_text().splitlines()[0])
    assert len(record["sha256"]) == 64
    found = checked(bench, folder)
    assert found["figures"].state == EQUAL, found["figures"].text
    assert "F, run again" not in found


def test_the_table_of_licences_decides():
    def spec(name, graph):
        return {"set": name, "graphs": [[graph, "0"]]}

    assert forbidding_licence(spec("cwq-test", "webqsp-cwq")).startswith("webqsp-cwq")
    assert forbidding_licence(spec("nations-test", "nations"))
    assert not forbidding_licence(spec("metaqa-2hop-test", "metaqa"))
    assert not forbidding_licence(spec("hotpotqa", "corpus:hotpotqa"))
    assert not forbidding_licence(spec("mine", "mine"))


def test_the_command_names_every_setting(bench):
    plan = with_repeats(
        bench.plan(bench.method("w", WALKS), model=False, seed=3, cold=True), 3, bench.models
    )
    words = run_command(plan.spec(""), plan.drawn)
    for part in ("--set films-set", "--seed 3", "--no-llm", "--cold", "--repeats 3", "--sample 4"):
        assert part in words
    assert f"'{WALKS}'" in words and "--judge" not in words


def test_a_claim_is_written_into_a_new_folder_only(bench, tmp_path, claim):
    job = bench.run(bench.plan(model=False))
    with pytest.raises(BadInput, match="empty"):
        write_claim(bench.engine, bench.store(), bench.store().run(job.number), claim)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadInput, match="claim"):
        list(verify_claim(bench.engine, tmp_path / "none"))
    (claim / "claim.json").write_text("[]")
    with pytest.raises(BadInput, match="claim"):
        list(verify_claim(bench.engine, claim))
