"""Model declarations, roles, and messages about missing models."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from core.errors import BadParameter, ModelUnavailable
from core.io.home import ROOT
from core.models.declarations import ROLE_KINDS, shipped_declarations
from core.models.registry import Registry

SHIPPED_ROLES = shipped_declarations().roles


def test_shipped_file_declares_every_role(own_home):
    registry = Registry()
    assert set(registry.roles) == set(ROLE_KINDS)
    by_name = {info.name: info for info in registry.list_models()}
    assert by_name["minilm"].present and by_name["minilm"].roles == ("encoder",)
    assert not any(info.loaded for info in by_name.values())
    assert all(info.present or info.how_to_get for info in by_name.values())
    assert by_name["qwen-1.5b"].fetchable and by_name["qwen-1.5b"].licence == "Apache-2.0"


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            '[model.x]\nkind = "chat"\nbackend = "openai"\nurl = "u"\nmodl = "m"',
            r'\[model.x\] has unknown key "modl". Did you mean “model”',
        ),
        ('[model.x]\nkind = "chat"\nbackend = "openai"\nurl = "u"', r'lacks the key "model"'),
        (
            '[model.x]\nkind = "chat"\nbackend = "opnai"',
            r'unknown backend "opnai". Did you mean “openai”',
        ),
        ('[model.x]\nkind = "encoder"\nbackend = "openai"\nurl = "u"\nmodel = "m"', "cannot be"),
        ('[model.x]\nkind = "scorer"\nbackend = "bm25"\nk1 = "high"', '"k1" must be a number'),
        ('[model.answer]\nkind = "scorer"\nbackend = "bm25"', "name of a role"),
        ('[model."a b"]\nkind = "scorer"\nbackend = "bm25"', "a name is made of"),
        ('[roles]\nanswr = "qwen-0.5b"', 'unknown key "answr". Did you mean “answer”'),
        ('[roles]\nanswer = "minilm"', "not a declared model fit for it"),
        ("[modle.x]", 'unknown table "modle". Did you mean “model”'),
        ("[model", "not valid TOML"),
    ],
)
def test_bad_row_is_reported_precisely_and_skipped(own_home, text, sentence):
    (own_home / "models.toml").write_text(text)
    registry = Registry()
    (fault,) = registry.faults()
    assert re.search(sentence, fault) and "models.toml" in fault
    assert registry.roles == SHIPPED_ROLES and registry.encoder() is not None


def test_good_row_is_kept_next_to_a_bad_one(own_home):
    (own_home / "models.toml").write_text(
        '[roles]\nanswer = "nowhere"\njudge = "lab"\n'
        '[model.lab]\nkind = "chat"\nbackend = "openai"\nurl = "u"\nmodel = "m"\n[model.x]\n'
        'kind = "y"'
    )
    registry = Registry()
    assert registry.info("lab").own and registry.roles == {**SHIPPED_ROLES, "judge": "lab"}
    assert len(registry.faults()) == 2 and any("nowhere" in fault for fault in registry.faults())
    # Unusable entries stay in the file, so that the user can correct them.
    registry.set_role("choose", "lab")
    assert len(Registry().faults()) == 2 and Registry().roles["choose"] == "lab"


def test_bad_role_does_not_break_the_catalogue(own_home):
    """Construction of an operator does not check the user's models; their use does."""
    (own_home / "models.toml").write_text('[roles]\nanswer = "nowhere"\n')
    line = '[{ extract = "EgoNetwork" }, { retrieve = "BeamSearch", model = "gone" }]'
    (own_home / "instances.toml").write_text(f'[own-x]\ntitle = "X"\nline = {line}\n')
    code = (
        "from core.methods.catalogue import catalogue, own_file_faults; assert 'lego-14' in "
        "catalogue() and 'own-x' in catalogue()"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "HOPSCOPE_HOME": str(own_home)},
        ).returncode
        == 0
    )


def test_declared_server_is_saved_and_used(own_home):
    registry = Registry()
    info = registry.add(
        "lab", "chat", "openai", url="http://127.0.0.1:9/v1", model='a "b" \\ c', title="Labör"
    )
    assert info.own and info.present and info.device == "http://127.0.0.1:9/v1"
    registry.set_role("choose", "lab", save=True)
    registry.set_role("judge", "lab", save=False)
    other = Registry()
    assert other.roles["choose"] == "lab" and other.roles["judge"] == "qwen-0.5b"
    assert other.chat("choose").model == 'a "b" \\ c' and other.info("lab").title == "Labör"
    other.remove("lab")
    assert Registry().roles["choose"] == "qwen-0.5b"
    with pytest.raises(BadParameter):
        other.remove("minilm")


def test_bad_addition_changes_nothing(own_home):
    registry = Registry()
    with pytest.raises(BadParameter):
        registry.add("lab", "chat", "openai", adress="x")
    with pytest.raises(BadParameter):
        registry.set_role("answer", "bm25")
    assert not (own_home / "models.toml").exists()


def test_missing_model_explains_how_to_get_it(own_home, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(own_home / "nowhere"))
    registry = Registry()
    with pytest.raises(ModelUnavailable, match="hopscope models --fetch qwen-0.5b"):
        registry.chat("answer")
    with pytest.raises(ModelUnavailable, match="hopscope models --fetch"):
        registry.chooser("prefilter(encoder, choose, 3)")
    monkeypatch.setenv("HF_HOME", str(own_home))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    with pytest.raises(ModelUnavailable, match="hf download BAAI/bge-reranker-v2-m3"):
        registry.scorer("bge-reranker-v2-m3")
    registry.add(
        "keyed",
        "chat",
        "openai",
        url="http://127.0.0.1:9/v1",
        model="m",
        key_variable="HOPSCOPE_KEY_NONE",
    )
    assert "HOPSCOPE_KEY_NONE" in registry.info("keyed").how_to_get
    registry.add("mine", "reranker", "cross-encoder", weights=str(own_home / "none"))
    assert not registry.info("mine").present


def test_each_model_is_loaded_once(own_home):
    registry = Registry()
    assert (
        registry.encoder()
        is registry.encoder("minilm")
        is registry.scorer("late-interaction").encoder
    )
    registry.unload("encoder")
    registry.unload("encoder")
    assert registry.encoder() is registry.encoder()


def test_model_kinds_are_checked(own_home):
    with pytest.raises(BadParameter, match="an encoder is needed"):
        Registry().encoder("bm25")
    with pytest.raises(BadParameter, match="a language model is needed"):
        Registry().chat("encoder")


def test_import_loads_no_heavy_libraries():
    script = (
        "import sys, time, core.models.registry; heavy = {'torch', 'openvino', 'transformers', "
        "'xllamacpp', 'sklearn', 'openai'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or "
        "('slow' if time.process_time() > 3 else 0))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_refused_parameters_are_in_the_description(own_home):
    from tests.core.models.chat.test_refusals import ASK, REFUSED, refusing
    from tests.core.models.chat_server import serving

    registry = Registry()
    with serving(refusing(*REFUSED[0][:3])) as (url, _):
        registry.add("mine", "chat", "openai", url=url, model="m")
        assert registry.info("mine").refuses == ()
        registry.chat("mine").reply(ASK)
    assert registry.info("mine").refuses == ("stream_options",)


def test_rows_of_one_address_share_a_window(own_home):
    row = (
        '[model.{name}]\nkind = "chat"\nbackend = "openai"\n'
        'url = "http://localhost:{port}/v1{slash}"\nmodel = "{name}"\n{more}\n'
    )
    rows = {"a": (1, "", ""), "b": (1, "/", ""), "c": (2, "", "")}

    def declared(**more):
        text = "".join(
            row.format(name=n, port=p, slash=s, more=more.get(n, m))
            for n, (p, s, m) in rows.items()
        )
        (own_home / "models.toml").write_text(text)

    declared()
    registry = Registry()
    a, b, c = (registry.chat(name) for name in "abc")
    assert a.window is b.window and a.window is not c.window
    found = a.window
    # The lowest limit of any row holds for all rows of one address.
    declared(b="at_once = 3", c="at_once = 2")
    registry.reload()
    a, b, c = (registry.chat(name) for name in "abc")
    assert a.window is b.window is not found and (a.window.limit, c.window.limit) == (3, 2)
    declared()
    registry.reload()
    # The measured window is not lost.
    assert registry.chat("b").window is registry.chat("a").window is found
