"""The Models screen through Streamlit's own test driver."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import HopscopeError, split_command
from core.io.home import ROOT, models_folder
from core.models.api_keys import saved_key
from core.models.declarations import own_file
from core.models.discovery import FoundServer
from core.models.hosts import complete_address
from pages.parts.models import add_model
from pages.parts.models.add_model import ServerForm, check_form
from pages.parts.models.roles import ROLE_CARDS
from pages.parts.shared.session import engine
from tests.core.models.chat.test_profile import WordServer
from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream
from tests.core.models.test_discovery import listing

PAGE = str(ROOT / "pages" / "models.py")


@pytest.fixture()
def own(monkeypatch, tmp_path):
    """A person's own empty folder, and a registry that goes back to what it was."""
    monkeypatch.setenv("HOPSCOPE_MODELS", str(models_folder()))
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    engine().models.reload()
    yield tmp_path
    monkeypatch.undo()
    engine().models.reload()


def opened() -> AppTest:
    return AppTest.from_file(PAGE, default_timeout=60).run()


def button(at: AppTest, label: str):
    return next(b for b in at.button if b.label == label)


def until(at: AppTest, done) -> None:
    for _ in range(300):
        at.run()
        if done():
            return
        time.sleep(0.1)
    raise AssertionError("nothing came")


def test_every_model_has_a_card_and_absent_ones_say_how_to_get_them(own, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(own / "none"))
    at = opened()
    assert not at.exception and not at.error
    told = [text.value for text in at.text]
    for info in engine().models.list_models():
        assert info.present or split_command(info.how_to_get)[0] in told
    assert button(at, "Fetch")
    assert any("under “Not installed”" in caption.value for caption in at.caption)


def test_the_cards_are_the_roles_of_the_registry(own):
    registry = engine().models
    carded = [role for roles in ROLE_CARDS.values() for role in roles]
    assert sorted(carded) == sorted(registry.roles) and len(ROLE_CARDS) == 3
    at = opened()
    told = [markdown.value.replace("\\", "") for markdown in at.markdown]
    for title, roles in ROLE_CARDS.items():
        assert f"**{title}**" in told
        for role in roles:
            short = registry.title(registry.roles[role]).split(",")[0].split(" (")[0]
            assert any(short in text for text in told)
            assert at.selectbox(key=f"role-{role}").value == registry.roles[role]


def test_models_are_folded_by_where_they_are(own):
    at = opened()
    infos = engine().models.list_models()
    absent = sum(not info.present for info in infos)
    labels = [one.label for one in at.expander]
    assert f"Not installed ({absent})" in labels
    assert f"On this computer ({len(infos) - absent})" in labels
    assert not any(one.proto.expanded for one in at.expander if "installed" in one.label)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        (" 192.168.0.7:8000/ ", "http://192.168.0.7:8000"),
        ("gpu:8000/v1", "http://gpu:8000/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("http://api.example.com/v1", "http://api.example.com/v1"),
        ("ftp://x/v1", "ftp://x/v1"),
        ("", ""),
    ],
)
def test_an_address_without_a_scheme_is_completed(typed, completed):
    assert complete_address(typed) == completed


def test_a_completed_address_is_asked(own):
    with listing("one", "two") as url:
        at = opened()
        fill(at, url=url.removeprefix("http://"))
        button(at, "List its models").click().run()
        assert not at.error and at.button_group(key="server_pill").options == ["one", "two"]


def test_a_role_is_given_and_kept(own):
    at = opened()
    at.selectbox(key="role-reranker").set_value("bm25").run()
    assert engine().models.roles["reranker"] == "bm25"
    assert 'reranker = "bm25"' in own_file().read_text("utf-8")
    assert at.selectbox(key="role-reranker").value == "bm25"


def test_a_scorer_ranks_lines(own):
    at = opened()
    at.selectbox(key="try_model_name").set_value("bm25").run()
    at.text_area(key="try_lines").set_value("nothing of it\nwho *directed* the film\n\nthe film")
    button(at, "Rank").click().run()
    until(at, lambda: at.dataframe)
    assert list(at.dataframe[0].value["Line"])[0] == "who *directed* the film"
    assert len(at.dataframe[0].value) == 3
    at.text_area(key="try_lines").set_value(" ")
    button(at, "Rank").click().run()
    until(at, lambda: at.error)
    assert "at least one line" in at.error[0].value


def test_a_language_model_replies(own, monkeypatch):
    from core.models.base import ChatReply

    class SlowParrot:
        def reply(self, messages, *, max_tokens, on_text, watch):
            on_text("Hello ")
            time.sleep(0.2)
            on_text("<b>you</b>")
            return ChatReply("Hello <b>you</b>", 7, 5)

    registry = engine().models
    monkeypatch.setattr(registry, "chat", lambda name: SlowParrot())
    monkeypatch.setattr(type(registry), "info", _present(type(registry).info))
    at = opened()
    at.selectbox(key="try_model_name").set_value("qwen-0.5b").run()
    button(at, "Send").click().run()
    until(at, lambda: any("tokens in" in caption.value for caption in at.caption))
    assert "Hello <b>you</b>" in [text.value for text in at.text]
    assert any("tokens a second" in caption.value for caption in at.caption)


@pytest.fixture
def served(own):
    """`served(reply)`: the page, with a server's model chosen that sends this stream."""
    replies: list[str] = []
    with serving(lambda handler, body: stream(handler, replies[0])) as (url, _):
        row = f'[model.thinker]\nkind = "chat"\nbackend = "openai"\nurl = "{url}"\nmodel = "m"\n'
        own_file().write_text(row, "utf-8")
        engine().models.reload()

        def page(reply: str) -> AppTest:
            replies[:] = [reply]
            at = opened()
            at.selectbox(key="try_model_name").set_value("thinker").run()
            return at

        page.url = url
        yield page


@pytest.mark.parametrize(
    ("reply", "shown", "thought", "fault"),
    [
        (sent(*texts("<think>Hm.</think>```\nA graph.\n```")), "A graph.", "Hm.", ""),
        (sent(*texts("Hm.</think>A graph.")), "A graph.", "Hm.", ""),
        (
            sent(*texts("<think>Hm."), finish="length"),
            "",
            "Hm.",
            "The model was still thinking when its 4,352 tokens were used up.",
        ),
        (sent(*texts("A gra"), finish="length"), "A gra", "", "The reply was cut at 256 tokens."),
        (sent({"content": None}), "", "", "The model sent an empty reply."),
    ],
    ids=["thought and fence", "closing tag", "thinking", "cut", "empty"],
)
def test_a_reply_is_shown_with_its_thought_apart_and_why_it_is_blank_or_cut(
    served, reply, shown, thought, fault
):
    at = served(reply)
    button(at, "Send").click().run()
    until(at, lambda: any("tokens in" in caption.value for caption in at.caption))
    found = [text.value for text in at.text]
    assert (
        (shown in found) == bool(shown)
        and (thought in found) == bool(thought)
        and not any("<think" in text for text in found)
    )
    assert (fault in found) == bool(fault)
    assert [one.label for one in at.expander if "Thought" in one.label] == [
        "Thought (not part of the reply)"
    ] * bool(thought)
    assert not any("tokens a second" in caption.value for caption in at.caption) or not thought


def test_the_connection_is_tested_with_why_a_reply_is_blank(served):
    at = served(sent({"content": ""}, finish="content_filter"))
    fill(at, name="mine", url=served.url, model="some-model")
    button(at, "Test the connection").click().run()
    assert "The server's content filter held the reply back." in [text.value for text in at.text]


def _present(info):
    from dataclasses import replace

    return lambda self, name: replace(info(self, name), present=True)


def fill(at: AppTest, **fields: str) -> None:
    for key, value in fields.items():
        at.text_input(key=f"server_{key}").set_value(value)


def test_a_dead_server_is_a_sentence(own):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    at = opened()
    fill(at, name="mine", url=f"http://127.0.0.1:{port}/v1", model="some-model")
    button(at, "Test the connection").click().run()
    assert not at.exception
    assert "cannot be reached" in at.error[0].value


def test_a_server_is_added_with_its_roles_and_measured_and_removed(own):
    with serving(WordServer(reads=600)) as (url, _):
        at = opened()
        fill(at, name="mine", url=url, model="some-model", key="secret-key")
        at.multiselect(key="server_roles").set_value(["answer", "judge"])
        button(at, "Add").click().run()
        assert at.success and not at.error and not at.exception
        registry = engine().models
        assert (registry.roles["answer"], registry.roles["judge"], registry.roles["choose"]) == (
            "mine",
            "mine",
            "qwen-0.5b",
        )
        # without another visit
        assert any("some-model" in label for label in at.selectbox(key="role-answer").options)
        assert any("some-model" in label for label in at.selectbox(key="try_model_name").options)
        assert [at.text_input(key=f"server_{one}").value for one in ("name", "url", "key")] == [
            "",
            "",
            "",
        ]
        until(at, lambda: any("refuses longer ones" in caption.value for caption in at.caption))
    assert "secret-key" not in own_file().read_text("utf-8") and saved_key(url) == "secret-key"
    button(at, "Remove").click().run()
    assert "mine" not in {info.name for info in registry.list_models()}


def test_a_measure_that_fails_says_why_on_the_card(own):
    at = opened()
    fill(at, name="mine", url="http://127.0.0.1:9/v1", model="some-model")
    button(at, "Add").click().run()
    until(at, lambda: any("cannot be reached" in error.value for error in at.error))
    assert button(at, "Measure")


def test_a_server_that_is_found_fills_the_form(own, monkeypatch):
    found = (
        FoundServer("http://127.0.0.1:1/v1", "Ollama", ("qwen3:8b", "nomic-embed-text:latest")),
        FoundServer("http://x/v1", "vLLM", needs_key=True),
    )
    monkeypatch.setattr(add_model, "find_servers", lambda: found)
    at = opened()
    button(at, "Look for servers on this computer").click().run()
    at.selectbox(key="found-http://127.0.0.1:1/v1").set_value("nomic-embed-text:latest").run()
    button(at, "Use this").click().run()
    assert [at.text_input(key=f"server_{one}").value for one in ("name", "url", "model")] == [
        "nomic-embed-text",
        "http://127.0.0.1:1/v1",
        "nomic-embed-text:latest",
    ]
    assert at.selectbox(key="server_kind").value == "encoder"
    assert at.multiselect(key="server_roles").options == ["Encoder", "Re-ranker", "Cross-encoder"]


@pytest.mark.parametrize("is_present", [True, False])
def test_the_models_of_an_address_are_listed_to_choose_from(own, monkeypatch, is_present):
    """The chosen one gets the roles that no installed model has."""
    info = engine().models.info
    monkeypatch.setattr(
        engine().models, "info", lambda name: replace(info(name), present=is_present)
    )
    with listing("one", "two") as url:
        at = opened()
        fill(at, url=url)
        button(at, "List its models").click().run()
        assert not at.error and not at.exception
        at.button_group(key="server_pill").set_value("two").run()
        assert (
            at.text_input(key="server_model").value,
            at.text_input(key="server_name").value,
        ) == ("two", "two")
        roles = [] if is_present else ["answer", "choose", "judge"]
        assert at.multiselect(key="server_roles").value == roles


@pytest.mark.parametrize(("typed", "taken"), [("", "only one"), ("mine", "mine")])
def test_the_only_model_of_an_address_is_chosen_unless_one_is_typed(own, typed, taken):
    with listing("only one") as url:
        at = opened()
        fill(at, url=url, model=typed)
        button(at, "List its models").click().run()
        assert not at.error and not at.exception
        assert at.text_input(key="server_model").value == taken
        chosen = (at.button_group(key="server_pill").value, at.text_input(key="server_name").value)
        assert chosen == ((None, "") if typed else ("only one", "only-one"))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (("", "http://x/v1", "m", ""), "name"),
        (("mine", "http://x/v1", "m", "HOPSCOPE_KEY_A", "secret"), "not both"),
        (("mine", "http://x/v1", "m", "", "a key"), "one word"),
        (("bm25", "http://x/v1", "m", ""), "comes with Hopscope"),
        (("mine", "ftp://localhost:8000", "m", ""), "http://"),
        (("mine", "http://x/v1", "", ""), "the model's name on the server"),
        (("mine", "http://x/v1", "m", "sk-123"), "is named HOPSCOPE_KEY_"),
        (("mine", "http://x/v1", "m", "HOME"), "is named HOPSCOPE_KEY_"),
        (("mine", "http://x/v1", "m", "HOPSCOPE_KEY_NO_SUCH"), "needs a key: set"),
    ],
)
def test_fields_that_cannot_be_used_say_which(own, fields, words):
    assert "HOPSCOPE_KEY_NO_SUCH" not in os.environ
    with pytest.raises(HopscopeError, match=words):
        check_form(ServerForm(*fields))
