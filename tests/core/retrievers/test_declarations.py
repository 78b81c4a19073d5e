"""Declarations of retrievers, and messages about invalid ones."""

import pytest

from core.errors import BadParameter
from core.methods.catalogue import catalogue, find_method, own_file_faults
from core.operators.text import parse_line
from core.retrievers.declarations import declared_retrievers, find_retriever, own_file

GOOD = """
[mine]
title = "My  retriever"
url = "http://127.0.0.1:9000/retrieve?x=1"
timeout = 5
keep = 7
version = 3
headers = { Authorization = "MY_TOKEN" }
notes = "Two towers."

[called]
python = "module_of_mine.sub:retrieve"
folder = "code"
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def write(text):
    own_file().write_text(text, "utf-8")


def test_no_retriever_is_declared_by_default():
    assert declared_retrievers() == {} and own_file_faults() == ()
    with pytest.raises(BadParameter, match="none is declared in retrievers.toml"):
        find_retriever("mine")


def test_declared_retrievers_have_a_group_in_the_catalogue(home):
    write(GOOD)
    mine, called = declared_retrievers().values()
    assert (mine.title, mine.timeout, mine.keep, mine.version) == ("My retriever", 5.0, 7, "3")
    assert mine.headers == (("Authorization", "MY_TOKEN"),)
    assert called.folder == home / "code" and (called.title, called.timeout, called.keep) == (
        "called",
        30.0,
        32,
    )
    method = catalogue()["retriever-mine"]
    assert (method.group, method.title, method.notes) == (
        "Your own retrievers",
        "My retriever",
        "Two towers.",
    )
    assert repr(method.line) == "OwnRetriever(name='mine', keep=7) >> Answer()"
    assert parse_line(repr(method.line)) == method.line
    assert list(catalogue())[-4:] == [
        "retriever-mine",
        "retriever-mine-documents",
        "retriever-called",
        "retriever-called-documents",
    ]
    assert (
        repr(catalogue()["retriever-mine-documents"].line)
        == "OwnDocuments(name='mine', keep=7) >> OwnAnswer()"
    )
    assert (
        repr(catalogue()["retriever-called-documents"].line)
        == "OwnDocuments(name='called') >> OwnAnswer()"
    )


def test_retriever_for_one_source_kind_is_one_method(home):
    write(
        'mine.url = "http://x/"\nmine.source = "corpus"\ngraphs.url = "http://x/"\n'
        'graphs.source = "graph"'
    )
    assert [key for key in catalogue() if key.startswith("retriever-")] == [
        "retriever-mine-documents",
        "retriever-graphs",
    ]
    assert (
        find_method("retriever-mine") == find_method("retriever-mine-documents")
        and find_method("retriever-mine").on_documents
    )
    assert not find_method("retriever-graphs").on_documents


BAD = [
    ("mine = 3", r"retrievers.toml, \[mine\]: a table was expected"),
    ('["a b"]\nurl = "http://x/"', r"\[a b\]: a name is made of"),
    ('[mine]\nurl = "http://x/"\nurrl = ""', r"\[mine\]: unknown key “urrl”. Did you mean “url”"),
    ("[mine]", "give either “url” or “python”"),
    ('[mine]\nurl = "http://x/"\nsource = "web"', "“source” is graph or corpus, not “web”"),
    ('[mine]\nurl = "http://x/"\npython = "a:b"', "give either “url” or “python”"),
    ("[mine]\nurl = 3", "“url” must be a text"),
    ('[mine]\nurl = "file:///etc/passwd"', "“url” must be an address"),
    ('[mine]\nurl = "ftp://x/"', "“url” must be an address"),
    ('[mine]\nurl = "http:///x"', "“url” must be an address"),
    ('[mine]\nurl = "http://x:99999/"', "“url” must be an address"),
    ('[mine]\nurl = "http://x/a\\r\\nHost: y"', "“url” must be an address"),
    ('[mine]\nurl = "http://me:secret@x/"', "keep names and passwords out"),
    ('[mine]\npython = "os.system"', "names a function as module:function"),
    ('[mine]\npython = "os:system(1)"', "names a function as module:function"),
    ('[mine]\npython = "../a:b"', "names a function as module:function"),
    ('[mine]\nurl = "http://x/"\ntimeout = 0', "“timeout” must be a number from 0.1 to 600"),
    ('[mine]\nurl = "http://x/"\ntimeout = true', "“timeout” must be a number"),
    ('[mine]\nurl = "http://x/"\nkeep = 1.5', "“keep” must be a whole number from 1 to 1000"),
    ('[mine]\nurl = "http://x/"\nheaders = "X"', "“headers” names environment variables"),
    ('[mine]\nurl = "http://x/"\nheaders = { Host = "X" }', "“Host” cannot be a header here"),
    ('[mine]\nurl = "http://x/"\nheaders = { "A: b" = "X" }', "“A: b” cannot be a header here"),
]


@pytest.mark.parametrize("text, told", BAD)
def test_bad_row_is_named_and_skipped(text, told):
    write(f'{text}\n[good]\nurl = "http://127.0.0.1/"\n')
    assert (
        list(declared_retrievers()) == ["good"]
        and "retriever-good" in catalogue()
        and "lego-12" in catalogue()
    )
    (fault,) = own_file_faults()
    with pytest.raises(BadParameter, match=told):
        raise BadParameter(fault)
    name = "a b" if "a b" in text else "mine"
    with pytest.raises(BadParameter, match=told):
        find_method(f"retriever-{name}")


def test_invalid_toml_file_affects_no_other_method():
    write("[mine\n")
    assert (
        declared_retrievers() == {}
        and "lego-12" in catalogue()
        and "retrievers.toml is not valid TOML" in own_file_faults()[0]
    )
    with pytest.raises(BadParameter, match="not valid TOML"):
        find_method("retriever-mine")


def test_unknown_name_suggests_the_nearest():
    write(GOOD)
    with pytest.raises(
        BadParameter, match="no retriever “min” in retrievers.toml. Did you mean “mine”"
    ):
        find_method("retriever-min")


def test_stamp_distinguishes_versions_without_the_address(home):
    write(GOOD)
    first, called = find_retriever("mine").stamp(), find_retriever("called").stamp()
    assert (
        first.startswith("mine:")
        and "127.0.0.1" not in first
        and find_retriever("mine").stamp() == first
    )
    (home / "code" / "module_of_mine").mkdir(parents=True)
    (home / "code" / "module_of_mine" / "sub.py").write_text("def retrieve(request): return {}")
    assert find_retriever("called").stamp() != called
    write(GOOD.replace("version = 3", 'version = "3.1"'))
    assert find_retriever("mine").stamp() != first
