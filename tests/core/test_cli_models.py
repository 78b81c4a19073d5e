"""`models` on the command line: servers found, added with their key and roles, and measured."""

from __future__ import annotations

import pytest

from core.cli import main
from core.commands import models
from core.io.home import models_folder
from core.models.api_keys import saved_key
from core.models.declarations import own_file
from core.models.discovery import FoundServer
from core.models.registry import Registry
from tests.core.models.chat.test_profile import WordServer
from tests.core.models.chat_server import serving
from tests.core.models.test_discovery import listing


@pytest.fixture(autouse=True)
def own(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(models_folder()))
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def test_servers_are_found(monkeypatch, capsys):
    monkeypatch.setattr(
        models,
        "find_servers",
        lambda: (FoundServer("http://127.0.0.1:1/v1", "Ollama", ("a", "b")),),
    )
    assert main(["models", "--find"]) == 0
    assert capsys.readouterr().out.split() == ["http://127.0.0.1:1/v1", "Ollama", "a", "b"]
    monkeypatch.setattr(models, "find_servers", lambda: ())
    main(["models", "--find"])
    assert "No model server answers" in capsys.readouterr().out


def test_a_server_is_added_with_its_roles_and_key_and_measured(monkeypatch, capsys):
    monkeypatch.setattr("getpass.getpass", lambda prompt: "typed")
    with serving(WordServer(reads=700, cuts=True)) as (url, _):
        assert (
            main(
                [
                    "models",
                    "--add",
                    "mine",
                    "--url",
                    url,
                    "--model",
                    "big",
                    "--role",
                    "judge",
                    "--key",
                ]
            )
            == 0
        )
    said = capsys.readouterr().out
    assert "Added big" in said and "cuts longer ones without a word" in said
    registry = Registry()
    assert registry.roles["judge"] == "mine" and registry.info("mine").profile.is_limited
    assert saved_key(url) == "typed" and "typed" not in own_file().read_text("utf-8") + said


def test_what_cannot_be_added_is_a_sentence(capsys):
    assert main(["models", "--add", "mine"]) == 2
    assert "--url" in capsys.readouterr().err
    with listing("one", "two") as url:
        assert main(["models", "--add", "mine", "--url", url]) == 2
    assert "the server has: one, two" in capsys.readouterr().err
    with listing("bge-m3") as url:
        assert main(["models", "--add", "vectors", "--url", url, "--role", "answer"]) == 2
        assert main(["models", "--add", "vectors", "--url", url, "--role", "encoder"]) == 0
    assert (
        Registry().roles["encoder"] == "vectors"
        and Registry().resolve("vectors").backend == "openai-embeddings"
    )
    assert main(["models", "--measure", "vectors"]) == 2
