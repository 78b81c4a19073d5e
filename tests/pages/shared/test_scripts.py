"""The browser gets a component's code once; a run of the page says where it is."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import urllib.request
from collections import Counter

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.io.home import ROOT
from pages.parts.board.component import (
    BOARD_FOLDER,
    BOARD_STYLES,
    join_board_script,
    join_board_styles,
)
from pages.parts.shared.scripts import ASSETS_FOLDER, join_modules
from tests.benchmarks.visitors import follow


def test_the_board_is_one_module_that_imports_nothing():
    assert (
        not re.findall(r"^import ", join_board_script(), re.MULTILINE)
        and join_board_script().count("export default") == 1
    )
    assert (
        join_modules(BOARD_FOLDER / "board.js") == join_board_script()
        and "hopscopeStyle" not in join_board_script()
    )


COMPONENTS = sorted(
    file.stem for file in ASSETS_FOLDER.glob("*/*.js") if file.stem == file.parent.name
)


@pytest.mark.parametrize("name", COMPONENTS)
def test_no_two_modules_of_a_component_declare_one_name(name):
    declared = re.findall(
        r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)",
        join_modules(ASSETS_FOLDER / name / f"{name}.js"),
        re.MULTILINE,
    )
    assert [word for word, count in Counter(declared).items() if count > 1] == []


def test_stylesheets_are_joined_in_their_order():
    files = [BOARD_FOLDER / f"{name}.css" for name in BOARD_STYLES]
    assert join_board_styles() == "".join(file.read_text("utf-8") for file in files)


def test_code_is_served_under_its_own_hash_and_stays(tmp_path):
    """There is one file for each text, and it belongs to no visit.

    The code runs in a process of its own, as a server does.
    """
    script = (
        "from streamlit import runtime\n"
        "from streamlit.runtime.media_file_manager import MediaFileManager\n"
        "from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage\n"
        "from pages.parts.shared import scripts\n"
        "class Here:\n    media_file_mgr = MediaFileManager(MemoryMediaFileStorage('/media'))\n"
        "runtime.get_instance = lambda: Here\n"
        "paths = [scripts._serve_code('one', 'a'), scripts._serve_code('two', 'b'), scripts._serve_code('one', 'a')]\n"
        "Here.media_file_mgr.clear_session_refs('a visit')\nHere.media_file_mgr.remove_orphaned_files()\n"
        "storage = Here.media_file_mgr._storage\n"
        "print(len(set(paths)), [storage.get_file(path.split('/')[-1]).content for path in paths], paths[0].startswith('media/'))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert said.strip().splitlines()[-1] == "2 [b'a', b'b', b'a'] True"


def test_a_run_sends_no_code_and_the_server_gives_it(app):
    drawn = asyncio.run(
        asyncio.wait_for(follow(app, "q=who+directed+Kismet&lane=lego-1&llm=0", 1), 120)
    )
    mount = ForwardMsg.FromString(drawn).delta.new_element.bidi_component.js_content
    assert len(mount) < 3_000 and "class Board" not in mount
    path = json.loads(re.search(r'^const ADDRESS = (".*");$', mount, re.MULTILINE)[1])
    with urllib.request.urlopen(f"{app}/{path}", timeout=30) as reply:
        assert reply.headers["Content-Type"].startswith("text/javascript")
        code = reply.read().decode()
    assert code.startswith(join_board_script()) and json.dumps(join_board_styles()) in code
