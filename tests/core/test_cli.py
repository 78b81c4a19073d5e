"""The command line: the JSON it prints, its exit codes, and the same bytes in another process."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main, parser
from core.commands import terminal
from core.commands.listing import COMMAND_GROUPS, COMMANDS, example
from core.graph.building.build import build
from core.io.home import ROOT
from core.methods.catalogue import catalogue

QUESTION = "which person directed the movie Inception"
FAST = "EgoNetwork(hops=2, keep=300) >> ShortestPaths() >> Rank(keep=20) >> Answer()"
LANE = set("instance answer reader_answers paths subgraph funnel prompt operators error".split())


def told(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out = capsys.readouterr()
    return code, out.out, out.err


LONG = (
    "ask build cases corpus evaluate export finetune index judge models questions reports search"
).split()


@pytest.mark.parametrize("command", LONG)
def test_the_help_of_long_commands_is_in_plain_words(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    words = set(re.findall(r"[a-z]+", capsys.readouterr().out.lower()))
    assert not words & {"kept", "keeps", "goes", "anew", "lot", "beat"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_of_a_command_is_one_and_ends_its_help(capsys, command):
    words = shlex.split(example(command))
    assert words[:2] == ["hopscope", command]
    assert callable(parser([command]).parse_args(words[1:]).run)
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert capsys.readouterr().out.endswith(f"\n  {example(command)}\n")


def test_methods_that_examples_name_are_first_names():
    named = re.findall(r"--methods? (\S+)", " ".join(map(example, COMMANDS)))
    ids = {method.typed_name for method in catalogue().values()}
    assert named and {name for names in named for name in names.split(",")} <= ids


def test_the_list_has_each_command_once_and_no_module_is_without_a_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0 and max(map(len, out.splitlines())) <= 110
    for name, (purpose, _) in COMMANDS.items():
        assert out.count(f"\n  {name:11}{purpose}\n               {example(name)}\n") == 1
    files = (ROOT / "core/commands").glob("*.py")
    marked = [file for file in files if "def add_command(subparsers)" in file.read_text("utf-8")]
    assert {file.stem for file in marked} == set(COMMANDS)


def test_the_readme_has_a_row_of_commands_for_each_group():
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z ]+) \| (`[a-z]+`(?:, `[a-z]+`)*) \|$", text, re.MULTILINE)
    assert {group: re.findall(r"\w+", names) for group, names in rows} == {
        group.lower(): list(commands) for group, commands in COMMAND_GROUPS.items()
    }


def test_the_list_imports_no_command_and_a_command_no_other():
    code = (
        "import sys; from core.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(*sorted(m for m in sys.modules if m.startswith('core.commands.')), file=sys.stderr)"
    )

    def imported(*arguments):
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        return set(ended.stderr.splitlines()[-1].split())

    parts = {"core.commands.listing", "core.commands.terminal"}
    assert imported("--help") == imported("--version") == parts
    assert imported("methods", "--help") == parts | {"core.commands.methods"}


def test_a_later_question_loads_no_detector_and_collects_seldom():
    code = (
        "import gc, sys; from core.__main__ import begin; begin()\n"
        "print(*{'lingua', 'xml.sax', 'pandas', 'sklearn'} & set(sys.modules), gc.get_threshold()[0])"
    )
    line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    ask = ["ask", "who directed Inception", "--no-llm", "--method", line]
    for _ in range(2):  # the first question may detect the language of the graph
        ended = subprocess.run(
            [sys.executable, "-c", code, *ask], cwd=ROOT, capture_output=True, text=True
        )
    assert "Christopher Nolan" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "20000"


def test_an_unknown_command_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["aks", "who"])
    known = set(re.findall(r"'(\w+)'", capsys.readouterr().err))
    assert ended.value.code == EXIT_WRONG_INPUT and known == {"aks", *COMMANDS}


def test_a_log_gets_a_line_of_progress_now_and_then(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with terminal.TerminalBar("Starting") as watch:
        for text, share in (
            ("1 of 4 lines", 0.25),
            ("2 of 4 lines", 0.5),
            ("2 of 4 lines", 0.5),
            ("Judging", None),
        ):
            now[0] += 0.6 * terminal.LINE_INTERVAL_SECONDS
            watch.report(text, share)
    assert capsys.readouterr().err.splitlines() == [
        "hopscope: 2 of 4 lines (50 %)",
        "hopscope: Judging",
    ]


def test_ask_prints_one_object(movies, capsys):
    code, out, _ = told(
        capsys,
        "ask",
        QUESTION,
        "--method",
        FAST,
        "--method",
        "lego-1",
        "--answer",
        "Christopher Nolan",
        "--no-llm",
        "--json",
    )
    result = json.loads(out)
    assert code == EXIT_OK and {"question", "entities", "lanes"} <= set(result)
    assert result["question"] == QUESTION and result["entities"] == ["Inception"]
    for lane in result["lanes"]:
        assert LANE <= set(lane) and lane["error"] is None and lane["answer"] is None
        assert all({"text", "score", "nodes", "relations"} <= set(path) for path in lane["paths"])
        assert all(
            {"name", "parameters", "seconds", "calls", "tokens_in", "tokens_out"} <= set(o)
            for o in lane["operators"]
        )
        assert lane["funnel"]["graph"] == lane["funnel"]["subgraph"] == ["Christopher Nolan"]
        assert lane["paths"][0]["nodes"][0] == "Inception" and set(lane["subgraph"]) == {
            "nodes",
            "edges",
        }
    assert (
        result["lanes"][1]["instance"] == "lego-1"
        and result["lanes"][1]["paths"][0]["score"] is None
    )
    assert (
        result["lanes"][0]["reader_answers"]
        and "Inception" not in result["lanes"][0]["reader_answers"]
    )


def test_what_is_taken_away_is_said_beside_what_was_answered_before(movies, capsys):
    line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    asked = ("ask", QUESTION, "--method", line, "--no-llm", "--without", "Christopher Nolan")
    code, out, _ = told(capsys, *asked, "--json")
    result = json.loads(out)
    (lane,) = result["without"]["lanes"]
    assert (
        code == EXIT_OK
        and lane["read"]
        and "Christopher Nolan" in lane["lost"]
        and "depended on it" in result["without"]["text"]
    )
    assert "Christopher Nolan" not in result["lanes"][0]["reader_answers"]
    code, out, _ = told(capsys, *asked)
    assert (
        code == EXIT_OK
        and "without Christopher Nolan: " in out
        and "  against before: No longer says Christopher Nolan" in out
    )


def test_what_an_answer_rests_on_is_measured_and_printed(movies, capsys):
    line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    asked = ("ask", QUESTION, "--method", line, "--no-llm", "--influence")
    code, out, _ = told(capsys, *asked, "--json")
    (one,) = json.loads(out)["lanes"][0]["influence"]
    needed = [item["name"] for item in one["items"] if item["smallest"]]
    assert (
        code == EXIT_OK
        and one["by"] == "reader"
        and needed
        and all("Christopher Nolan" in name for name in needed)
    )
    code, out, _ = told(capsys, *asked)
    assert code == EXIT_OK and "  reader: depends on " in out and "“Christopher Nolan”." in out


def test_entities_can_be_named(movies, capsys):
    entities = ("--entity", "Christopher Nolan", "--entity", "Inception")
    asked = ("ask", "which films", *entities, "--method", "lego-1", "--no-llm", "--json")
    code, out, _ = told(capsys, *asked)
    assert code == EXIT_OK and json.loads(out)["entities"] == ["Christopher Nolan", "Inception"]


@pytest.mark.parametrize(
    "arguments, code, sentence",
    [
        (["ask", ""], EXIT_WRONG_INPUT, "Type a question first"),
        (["ask", "x" * 20_000], EXIT_WRONG_INPUT, "too long"),
        (["ask", "who", "--entity", "Incepton"], EXIT_WRONG_INPUT, "Did you mean Inception"),
        (["ask", QUESTION, "--method", "lego-99"], EXIT_WRONG_INPUT, "-relations-picked, lego-9)"),
        (
            ["ask", QUESTION, "--method", "PersonalizedPageRank(dampnig=1)"],
            EXIT_WRONG_INPUT,
            "Did you mean “damping”",
        ),
        (["ask", QUESTION, "--graph", "nowhere"], EXIT_WRONG_INPUT, "nowhere"),
        (["build", "absent.tsv", "--out", "{tmp}/absent"], EXIT_WRONG_INPUT, "absent.tsv"),
        (
            [
                "ask",
                QUESTION,
                "--method",
                "EgoNetwork() >> ShortestPaths() >> Rank(model='nothing')",
                "--no-llm",
            ],
            EXIT_FAILED,
            "",
        ),
    ],
)
def test_bad_input_ends_in_a_sentence_and_a_code(
    movies, tmp_path, capsys, arguments, code, sentence
):
    ended, _, err = told(
        capsys, *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments)
    )
    assert ended == code and sentence in err and "Traceback" not in err


def test_ask_takes_the_first_name_of_a_method_and_keeps_its_id(movies, capsys):
    lanes = ["--method", "pagerank-paths", "--method", "lego-1"]
    out = told(capsys, "ask", QUESTION, *lanes, "--no-llm", "--json")[1]
    assert [lane["instance"] for lane in json.loads(out)["lanes"]] == ["lego-1", "lego-1"]


def test_methods_are_listed_by_their_first_names(capsys):
    rows = {row["id"]: row for row in json.loads(told(capsys, "methods", "--json")[1])}
    names = {id: [rows[id]["name"], *rows[id]["aliases"]] for id in ("lgraphrag", "hipporag")}
    assert names == {"lgraphrag": ["graphrag-local", "lgraphrag"], "hipporag": ["hipporag"]}
    assert re.search(r"^graphrag-local .*\(lgraphrag\)$", told(capsys, "methods")[1], re.MULTILINE)


@pytest.mark.parametrize("command", ["methods", "instances"])
def test_methods_lists_the_catalogue_also_by_its_earlier_name(capsys, command):
    code, out, _ = told(capsys, command, "--json")
    assert code == EXIT_OK and {row["id"] for row in json.loads(out)} >= {
        f"lego-{n}" for n in range(1, 16)
    } | {"language-model-only"}


@pytest.mark.parametrize(
    ("command", "earlier", "name", "values"),
    [
        (("ask", "Who"), "--instance", "--method", ("a", "b")),
        (("ask", "Who"), "--gold", "--evidence", ("a", "b")),
        (("evaluate",), "--instances", "--methods", ("a,b", "c")),
        (("corpus", "build", "notes"), "--lanes", "--requests", ("3",)),
        (("corpus", "mend", "notes"), "--line", "--method", ("a",)),
    ],
)
def test_earlier_names_of_options_do_the_same(capsys, command, earlier, name, values):
    def parsed(flag):
        return vars(
            parser(command[:1]).parse_args([*command, *(p for v in values for p in (flag, v))])
        )

    assert parsed(earlier) == parsed(name) != vars(parser(command[:1]).parse_args(command))
    with pytest.raises(SystemExit):
        parser(command[:1]).parse_args([*command, "--help"])
    assert not re.search(rf"{earlier}\b", capsys.readouterr().out)


def test_build_and_ask_a_graph_of_ones_own(tmp_path, capsys):
    file = tmp_path / "mine.tsv"
    file.write_text('Ann "A" <b>\tknows\tBo 🎬\nBo 🎬\tknows\tCy\n', "utf-8")
    assert told(capsys, "build", str(file), "--out", str(tmp_path / "mine"))[0] == EXIT_OK
    code, out, _ = told(
        capsys,
        "ask",
        "who knows",
        "--entity",
        "Bo 🎬",
        "--graph",
        str(tmp_path / "mine"),
        "--method",
        "lego-1",
        "--no-llm",
        "--json",
    )
    texts = {path["text"] for path in json.loads(out)["lanes"][0]["paths"]}
    assert code == EXIT_OK and texts == {
        "Bo 🎬 -> knows -> Cy",
        'Bo 🎬 -> knows_reverse -> Ann "A" <b>',
    }


def test_what_is_loaded_and_compiled_is_no_time_of_an_operator(tmp_path):
    """PageRank of two triples takes less than a second in a fresh process.

    It is the first question there, and nothing was compiled before.
    """
    build([("Ann", "knows", "Bo"), ("Bo", "knows", "Cy")], tmp_path / "mine", "mine")
    asked = [
        "ask",
        "who",
        "--entity",
        "Ann",
        "--graph",
        str(tmp_path / "mine"),
        "--method",
        "lego-1",
        "--no-llm",
    ]
    fresh = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "HOPSCOPE_HOME": str(tmp_path / "home"),
    }
    told = subprocess.run(
        [sys.executable, "-m", "core", *asked],
        env=fresh,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    seconds, compiled = re.search(
        r"^  ([0-9.]+) s, 2 paths; apart from that .*?([0-9.]+) s start-up", told, re.MULTILINE
    ).groups()
    assert float(compiled) > 1 > float(seconds)


def test_a_wrong_column_names_the_line_and_leaves_no_graph(tmp_path, capsys):
    file = tmp_path / "bad.tsv"
    file.write_text("a\tr\tb\na\tr\n", "utf-8")
    code, _, err = told(capsys, "build", str(file), "--out", str(tmp_path / "bad"))
    assert code == EXIT_WRONG_INPUT and "line 2" in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.tsv"]
    assert main(["ask", "a", "--graph", str(tmp_path / "bad"), "--no-llm"]) == EXIT_WRONG_INPUT


def test_same_seed_same_bytes_in_another_process(movies, capsys):
    """Everything but the seconds is the same, whatever Python's hashes are seeded with."""
    lines = [
        "lego-1",
        "RandomWalks() >> SimplePaths() >> RandomSelect(keep=16) >> Rank(keep=8) >> Answer()",
        "PersonalizedPageRank(keep=100) >> FilterSubgraph(unit='triple', keep=60) >> BeamSearch(width=4, hops=2) >> Answer()",
    ]
    arguments = [part for line in lines for part in ("--method", line)]
    command = ["ask", QUESTION, *arguments, "--no-llm", "--seed", "7", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "core", *command],
        env={**os.environ, "PYTHONHASHSEED": "1234"},
        capture_output=True,
        check=True,
    )
    code, here, _ = told(capsys, *command)
    assert code == EXIT_OK
    found = []
    for text in (here, done.stdout):
        result = json.loads(text)
        for lane in result["lanes"]:
            assert lane["paths"]
            for step in lane["operators"]:
                for name in ("seconds", "waiting", "prepared"):
                    step.pop(name)
        found.append(json.dumps(result))
    assert found[0] == found[1]
