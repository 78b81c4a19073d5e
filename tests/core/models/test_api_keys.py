"""API keys are sent only to the address that they are bound to."""

import pytest

from core.errors import BadInput, ModelUnavailable
from core.models.api_keys import keys_file, read_key_variable, save_key, saved_key

VARIABLE = "HOPSCOPE_KEY_TEST"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/v1",
        "https://a.example/v1/",
        "https://a.example/v1/chat",
        "https://A.EXAMPLE/v1",
    ],
)
def test_key_is_sent_to_its_address(monkeypatch, url):
    monkeypatch.setenv(VARIABLE, "https://a.example/v1  secret ")
    assert read_key_variable(VARIABLE, url, "mine") == "secret"


@pytest.mark.parametrize(
    "url",
    [
        "https://b.example/v1",
        "http://a.example/v1",
        "https://a.example:8443/v1",
        "https://a.example/v10",
        "https://a.example",
        "https://a.example.evil.example/v1",
        "https://a.example/v1/../../other",
        "https://a.example:x/v1",
        "https://someone@a.example/v1",
        "https://a.example@evil.example/v1",
    ],
)
def test_key_is_sent_nowhere_else(monkeypatch, url):
    monkeypatch.setenv(VARIABLE, "https://a.example/v1 secret")
    with pytest.raises(ModelUnavailable, match="another address") as told:
        read_key_variable(VARIABLE, url, "mine")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "variable",
    [
        "HOME",
        "OPENAI_API_KEY",
        "HOPSCOPE_KEY_",
        "HOPSCOPE_HOME",
        "hopscope_key_test",
        "X HOPSCOPE_KEY_TEST",
    ],
)
def test_other_variables_are_not_read(monkeypatch, variable):
    monkeypatch.setenv("HOME", "https://a.example/v1 secret")
    with pytest.raises(ModelUnavailable, match="only HOPSCOPE_KEY_"):
        read_key_variable(variable, "https://a.example/v1", "mine")


@pytest.mark.parametrize(
    "value, told",
    [
        ("", "needs a key: set"),
        ("secret", "an address, a space"),
        ("https://a.example/v1", "an address, a space"),
    ],
)
def test_key_without_address_is_reported(monkeypatch, value, told):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(ModelUnavailable, match=told) as error:
        read_key_variable(VARIABLE, "https://a.example/v1", "mine")
    assert "secret" not in str(error.value)


def test_typed_keys_are_saved_in_a_private_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    assert saved_key("https://a.example/v1") == ""
    save_key("https://a.example/v1/", " secret\n")
    save_key("https://b.example/v1", 'od"d')
    assert (saved_key("https://a.example/v1"), saved_key("https://b.example/v1")) == (
        "secret",
        'od"d',
    )
    assert [
        saved_key(url)
        for url in ("http://a.example/v1", "https://a.example/v10", "https://c.example/v1")
    ] == ["", "", ""]
    assert keys_file().stat().st_mode & 0o777 == 0o600
    save_key("https://a.example/v1", "")
    assert (saved_key("https://a.example/v1"), saved_key("https://b.example/v1")) == ("", 'od"d')
    for wrong in ("two words", "line\nbreak", "schlüssel"):
        with pytest.raises(BadInput, match="one word"):
            save_key("https://a.example/v1", wrong)
    keys_file().write_text("not toml", "utf-8")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        saved_key("https://a.example/v1")
