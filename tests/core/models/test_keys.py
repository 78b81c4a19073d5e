"""Keys go to the address that they are bound to, and to no other."""

import pytest

from core.errors import ModelUnavailable
from core.models.keys import key_for

VARIABLE = "HOPSCOPE_KEY_TEST"


@pytest.mark.parametrize("url", ["https://a.example/v1", "https://a.example/v1/", "https://a.example/v1/chat", "https://A.EXAMPLE/v1"])
def test_the_key_goes_to_its_address(monkeypatch, url):
    monkeypatch.setenv(VARIABLE, "https://a.example/v1  secret ")
    assert key_for(VARIABLE, url, "mine") == "secret"


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
def test_the_key_goes_nowhere_else(monkeypatch, url):
    monkeypatch.setenv(VARIABLE, "https://a.example/v1 secret")
    with pytest.raises(ModelUnavailable, match="another address") as told:
        key_for(VARIABLE, url, "mine")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "variable", ["HOME", "OPENAI_API_KEY", "HOPSCOPE_KEY_", "HOPSCOPE_HOME", "hopscope_key_test", "X HOPSCOPE_KEY_TEST"]
)
def test_other_variables_are_not_read(monkeypatch, variable):
    monkeypatch.setenv("HOME", "https://a.example/v1 secret")
    with pytest.raises(ModelUnavailable, match="only HOPSCOPE_KEY_"):
        key_for(variable, "https://a.example/v1", "mine")


@pytest.mark.parametrize(
    "value, told", [("", "needs a key: set"), ("secret", "an address, a space"), ("https://a.example/v1", "an address, a space")]
)
def test_a_key_without_its_address_is_told(monkeypatch, value, told):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(ModelUnavailable, match=told) as error:
        key_for(VARIABLE, "https://a.example/v1", "mine")
    assert "secret" not in str(error.value)
