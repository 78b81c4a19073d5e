"""The wheel is one package, from which everything works outside the checkout.

The command, a question, the demo in a browser and Python work from it alone.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

from core import __version__
from core.io.data_folders import listed_data
from core.io.home import ROOT
from core.runtime.server_process import free_port
from tests.benchmarks.install import Installed, sizes, table
from tests.core.test_requirements import named
from tests.server import CHROMIUM, open_page, settle


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (made,) = out.glob("*.whl")
    return made


def environment(folder: Path, *wanted: str) -> Path:
    """Return the folder of programs of a new environment that has what is wanted of ours.

    It has the libraries too, and nothing else of the checkout.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    site = subprocess.run(
        [str(programs / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(site, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet"]
    # forced, as the libraries may have the checkout's own command among them
    options = [
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--force-reinstall",
        "--no-compile",
    ]
    subprocess.run([*pip, *options, *wanted], check=True, cwd=folder)
    return programs


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Return the folder of programs of an environment that has the wheel."""
    return environment(tmp_path_factory.mktemp("environment"), str(wheel))


def like_a_checkout(folder: Path) -> None:
    """Write packages of the same names that cannot be imported into a folder."""
    for name in ("core", "hopscope", "pages"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "__init__.py").write_text(
            f"raise RuntimeError('this {name} is the one of the current folder')\n", "utf-8"
        )


def outside(programs: Path, home: Path, *command: str) -> subprocess.CompletedProcess:
    """Run a program of that environment, and return what it prints.

    It is begun in a folder like a checkout, whose `core` and `hopscope` are not those of the package.
    """
    like_a_checkout(home)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(programs / command[0]), *command[1:]],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def test_it_holds_one_package_and_its_version(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "hopscope",
        f"hopscope-{__version__}.dist-info",
    }
    assert {
        "hopscope/app.py",
        "hopscope/models.toml",
        "hopscope/.streamlit/config.toml",
        "hopscope/static/cytoscape.min.js",
    } <= set(names)
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name]


def test_it_holds_the_data_that_may_be_passed_on(wheel):
    files = zipfile.ZipFile(wheel)
    for name, row in listed_data().items():
        inside = [file for file in files.namelist() if file.startswith(f"hopscope/data/{name}/")]
        assert bool(inside) == row.in_wheel, name
    about = files.read(f"hopscope-{__version__}.dist-info/METADATA").decode("utf-8")
    assert "\nLicense-Expression: Apache-2.0 AND CC-BY-2.5 AND" in about


# One program runs the commands, as each start takes a second.
EACH = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from hopscope.core.cli import main
told = []
for command in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(command)
    told.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


def test_what_lists_data_copes_with_absent_folders(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()

    commands = [
        *(["corpus", "list"], ["cases", "list"], ["models"], ["methods"], ["reproduce"]),
        ["reproduce", "walks-updates", "--small", "--sample", "1"],
        ["ask", "Who?", "--corpus", "scifact", "--method", "vanilla-rag", "--no-llm"],
        ["data", "--add", "cacm", "--from", str(ROOT)],
        ["data"],
        ["corpus", "list"],
    ]
    told = outside(installed, tmp_path / "work", "python", "-P", "-c", EACH, json.dumps(commands))
    *lists, papers, asked, added, data, corpora = json.loads(told.stdout)
    for command, (code, out, err) in zip(commands, lists):
        assert code == 0 and out, (command, err)
    assert papers[0] == 2 and "hopscope data --add pathquestion-2hop" in papers[2]
    assert asked[0] == 2 and "hopscope data --add scifact" in asked[2]
    assert added[0] == 0
    rows = {row.split()[1]: row[0] for row in data[1].splitlines()}
    assert rows["cacm"] == rows["hotpotqa"] == "●" and rows["scifact"] == "○"
    assert "cacm" in corpora[1]


OWN_IMPORT = re.compile(r"^\s*(?:from|import)\b.*(?<!\.)\b(?:core|pages|tests)\b", re.MULTILINE)


def test_what_it_imports_of_ours_lies_in_it(wheel):
    files = zipfile.ZipFile(wheel)
    for name in (name for name in files.namelist() if name.endswith(".py")):
        text = files.read(name).decode("utf-8")
        assert "-m core " not in text, name
        if not OWN_IMPORT.search(text):  # parsing takes most of the time
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                if isinstance(node, ast.Import):
                    modules = [one.name for one in node.names]
                else:
                    modules = [node.module or ""]
                assert not [
                    one for one in modules if one.partition(".")[0] in ("core", "pages", "tests")
                ], (name, modules)


def test_no_module_of_ours_is_named_in_a_text():
    """Such a name would not follow the modules into the package."""
    name = r"(?:from |import )?(?:core|pages)(?:\.[a-z_]+)+"
    dotted, quoted = re.compile(name), re.compile(rf"""["']\s*{name}\.*\s*["']""")
    for path in [
        *(ROOT / "core").rglob("*.py"),
        *(ROOT / "pages").rglob("*.py"),
        ROOT / "main.py",
        ROOT / "app.py",
    ]:
        source = path.read_text("utf-8")
        if not quoted.search(source):  # parsing takes most of the time
            continue
        tree = ast.parse(source)
        comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in comments
        ]
        assert not [text for text in texts if dotted.fullmatch(text.strip().rstrip("."))], path


def test_its_requirements_are_those_of_the_checkout():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    required = [
        *project["dependencies"],
        *(one for name, ones in extras.items() if name != "gpu" for one in ones),
    ]
    name = lambda text: re.match(r"[\w.-]+", text)[0].lower().replace("_", "-")
    gpu = {name(one) for one in extras["gpu"]}
    assert {name(one) for one in required} | (gpu - {"vllm"}) == set(named("requirements.txt"))
    assert gpu <= set(named("requirements-gpu.txt"))


def test_a_question_is_answered_outside_the_checkout(installed, tmp_path):
    assert (
        outside(installed, tmp_path, "hopscope", "--version").stdout.strip()
        == f"Hopscope {__version__}"
    )
    line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    said = outside(
        installed,
        tmp_path,
        "hopscope",
        "ask",
        "who directed Inception",
        "--no-llm",
        "--method",
        line,
    )
    assert said.returncode == 0, said.stderr
    assert "Inception -> directed_by -> Christopher Nolan" in said.stdout


def test_an_editable_install_runs_the_checkout_from_any_folder(tmp_path):
    programs = environment(tmp_path / "environment", "-e", str(ROOT))
    (home := tmp_path / "elsewhere").mkdir()
    code = "import core, hopscope; print(core.__file__, hopscope.__file__)"
    said = outside(programs, home, "python", "-P", "-c", code)
    assert said.stdout.split() == [str(ROOT / one / "__init__.py") for one in ("core", "hopscope")]
    for command in (["hopscope"], ["python", "-P", "-m", "hopscope"]):
        said = outside(programs, home, *command, "--version")
        assert said.stdout.strip() == f"Hopscope {__version__}", said.stderr


def test_python_outside_the_checkout_answers_without_torch(installed, tmp_path):
    """The usual encoder runs by OpenVINO, so that torch, transformers and sentence-transformers are an extra."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(['torch', 'transformers', 'sentence_transformers']); import hopscope as hs; "
        "line = hs.EgoNetwork(hops=1) >> hs.ShortestPaths(hops=1) >> hs.Rank(keep=4); "
        "found = hs.compare('who directed Inception', [line, 'chain-ranking'], graph='metaqa', progress=False); "
        "print([(lane.answers[0], lane.error) for lane in found]); "
        "_ = hs.corpus('notes', {'a': 'Ada Lovelace wrote to Charles Babbage.', 'b': 'Babbage built an engine.'}); "
        "hs.build('notes', progress=False); "
        "print([lane.error for lane in hs.compare('Who built an engine?', ['vanilla-rag', 'hipporag'], corpus='notes', progress=False)])"
    )
    said = outside(installed, tmp_path, "python", "-P", "-c", code)
    assert said.stdout.splitlines() == [
        "[('Christopher Nolan', ''), ('Christopher Nolan', '')]",
        "['', '']",
    ], said.stderr


def test_sizes_of_an_install_are_those_of_its_files(tmp_path):
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / "a.so").write_bytes(b"x" * 3_000_000)
    (tmp_path / "big" / "a.pyc").write_bytes(b"x" * 500_000)
    for name, files in (
        ("big-1.0", 'big/a.so,,\nbig/a.pyc,,\n"big/not, there.py",,\n'),
        ("small-2", "small.py,,\n"),
    ):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / "RECORD").write_text(files)
    (tmp_path / "small.py").write_bytes(b"x" * 1_000_000)
    assert sizes(tmp_path) == ({"big": 3_000_000, "small": 1_000_000}, 500_000)
    said = table(Installed(*sizes(tmp_path), (7.2, 31.0)))
    assert said.startswith(
        "4 MB in 2 packages, 4 MB with what pip compiles; 7 s of the processor, 31 s of the clock"
    )
    assert "| big | 3 |\n| small | 1 |\n| 0 others | 0 |" in said


def test_work_in_another_process_finds_the_package(installed, tmp_path):
    """Work in a process of its own is begun by the module's name there."""
    code = (
        "import sys; from operator import truth; from hopscope.core.runtime.subprocess_worker import in_subprocess; "
        "print('done there', in_subprocess(truth)); "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'core', 'pages'}))"
    )
    said = outside(installed, tmp_path, "python", "-P", "-c", code)
    assert said.stdout.startswith("done there True") and said.stdout.endswith("[]\n"), said.stderr


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
def test_the_demo_opens_in_a_browser(installed, tmp_path):
    like_a_checkout(tmp_path)
    port = free_port()
    environment = {
        **os.environ,
        "HOPSCOPE_HOME": str(tmp_path / "home"),
        "HOPSCOPE_MODELS": str(tmp_path / "none"),
    }
    command = [str(installed / "hopscope"), "demo", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        address = process.stdout.readline().strip()
        assert address == f"http://127.0.0.1:{port}/cases"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        with open_page(address) as page:
            page.get_by_text("Open", exact=True).first.click(timeout=60_000)
            page.get_by_role("button", name="All cases").wait_for(timeout=60_000)
            settle(page)
            page.locator(".lane").first.wait_for(timeout=60_000)
    finally:
        import psutil

        family = [process, *psutil.Process(process.pid).children(recursive=True)]
        for one in family:
            one.terminate()
        process.wait(30)
