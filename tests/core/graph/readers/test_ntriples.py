"""N-Triples: names by hand, malformed lines, and texts that survive every kind of escape."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput
from core.graph.readers.ntriples import local_name
from tests.triples import read_triples

XSD = "http://www.w3.org/2001/XMLSchema#"


def named_triples(tmp_path, text, name="t.nt", packed=False):
    path = tmp_path / (name + ".gz" * packed)
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return list(read_triples(path))


@pytest.mark.parametrize("packed", [False, True])
def test_by_hand(tmp_path, packed):
    text = f"""\ufeff# films
<http://films.org/One> <http://films.org/terms#directed_by> <http://films.org/Ann%20Lee> .

<http://films.org/One> <http://films.org/terms#year> "1999"^^<{XSD}gYear> . # a remark
<http://films.org/One> <http://films.org/terms#title> "Ein \\"Film\\"\\n\\u00fcber \\U0001F600"@de .
_:b0 <urn:x:seen> <http://rdf.freebase.com/ns/m.0abc> .
"""
    assert named_triples(tmp_path, text, packed=packed) == [
        ("One", "directed_by", "Ann Lee"),
        ("One", "year", "1999"),
        ("One", "title", 'Ein "Film"\nüber 😀'),
        ("_:b0", "seen", "m.0abc"),
    ]


def test_things_with_equal_local_names_stay_apart(tmp_path):
    text = f"""<http://a.org/Paris> <http://a.org/is> <http://b.org/Paris> .
<http://b.org/Paris> <http://b.org/is> "Paris" .
<http://a.org/Paris> <http://a.org/is> "Paris"@fr .
<http://a.org/Paris> <http://a.org/is> "Paris"^^<{XSD}token> .
<http://a.org/Paris> <http://a.org/is> "Paris (http://b.org/Paris)" .
<http://a.org/Paris> <http://a.org/is> "" .
<http://a.org/is> <http://a.org/is> <http://a.org/Paris> .
"""
    assert named_triples(tmp_path, text) == [
        ("Paris", "is", "Paris (http://b.org/Paris)"),
        ("Paris (http://b.org/Paris)", "is (http://b.org/is)", "Paris (text)"),
        ("Paris", "is", "Paris (@fr)"),
        ("Paris", "is", "Paris (token)"),
        ("Paris", "is", "Paris (http://b.org/Paris) (text)"),
        ("Paris", "is", '""'),
        ("is", "is", "Paris"),
    ]


@pytest.mark.parametrize(
    "iri, name",
    [
        ("http://a.org/b#c", "c"),
        ("http://a.org/b/", "b"),
        ("http://a.org/b#", "b"),
        ("http://rdf.freebase.com/ns/people.person.parents", "people.person.parents"),
        ("urn:isbn:123", "123"),
        ("http://a.org/caf%C3%A9", "café"),
        ("http://a.org/a%2Fb", "a/b"),
        ("http://a.org/Category:Films", "Category:Films"),
        ("http://a.org", "a.org"),
        ("http://a.org/%20", "http://a.org/%20"),
    ],
)
def test_local_names(iri, name):
    assert local_name(iri) == name


@pytest.mark.parametrize(
    "line, told",
    [
        (b"<http://a> <http://b> <http://c> <http://d> <http://e> .", "line 2"),
        (b"<http://a> <http://b> .", "line 2"),
        (b"<http://a> <relative> <http://c> .", "scheme"),
        (b'"text" <http://b> <http://c> .', "line 2"),
        (b'<http://a> "b" <http://c> .', "line 2"),
        (b'<http://a> <http://b> "open .', "line 2"),
        (b'<http://a> <http://b> "\\q" .', "line 2"),
        (b'<http://a> <http://b> "\\uD800" .', "D800"),
        ('<http://a> <http://b> "ÄÖÜß'.encode() + b'\xff" .', "UTF-8"),
        (b'<http://a> <http://b> <<( <http://a> <http://b> "1" )>> .', "RDF-star"),
        (b"A\tr\tB", "line 2"),
    ],
)
def test_malformed_lines_are_reported(tmp_path, line, told):
    with pytest.raises(BadInput, match=told) as error:
        named_triples(tmp_path, b"<http://a> <http://b> <http://c> .\n" + line + b"\n")
    assert str(error.value).startswith(("t.nt, line 2", "Triples about"))


def test_empty_and_cut_files_are_reported(tmp_path):
    with pytest.raises(BadInput, match="no triples"):
        named_triples(tmp_path, "# nothing\n")
    whole = gzip.compress(b"<http://a> <http://b> <http://c> .\n" * 9999)
    (tmp_path / "cut.nt.gz").write_bytes(whole[:-9])
    with pytest.raises(BadInput, match="cut short"):
        list(read_triples(tmp_path / "cut.nt.gz"))
    with pytest.raises(BadInput, match="Columns"):
        list(read_triples(tmp_path / "cut.nt.gz", columns=(1, 2, 3)))


NAMED = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}


def escape_text(text: str, how: list[int]) -> str:
    """Return a text as N-Triples may write it.

    The entries of `how` apply to the letters in turn. 0: the letter or its named escape, 1: \\u, 2:
    \\U.
    """
    out = []
    for at, letter in enumerate(text):
        way = how[at % len(how)]
        if way == 1 and ord(letter) <= 0xFFFF:
            out.append(f"\\u{ord(letter):04X}")
        elif way == 2:
            out.append(f"\\U{ord(letter):08X}")
        else:
            out.append(NAMED.get(letter, letter))
    return "".join(out)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
)
def test_every_text_comes_back_through_its_escapes(tmp_path_factory, told, how):
    path = tmp_path_factory.mktemp("nt") / "t.nt"
    path.write_bytes(
        "".join(
            f'<http://a.org/1> <http://a.org/says> "{escape_text(text, how)}" .\n' for text in told
        ).encode()
    )
    assert [tail for _, _, tail in read_triples(path)] == [
        text if text != "1" else "1 (text)" for text in told
    ]


@pytest.mark.parametrize(
    "text", ['<a:a> <a:b> "%s', "<a:%s", "# %s"], ids=["literal", "address", "comment"]
)
def test_a_line_without_an_end_is_refused_early(tmp_path, monkeypatch, text):
    monkeypatch.setattr("core.graph.readers.ntriples.MAX_LINE_BYTES", 1 << 20)
    file = tmp_path / "long.nt"
    file.write_text(text % ("a" * (3 << 20)))
    with pytest.raises(BadInput, match="long.nt: .* 1 MB"):
        list(read_triples(file))
