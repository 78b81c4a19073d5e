"""GraphML: names by hand, files that are refused, and files that igraph writes."""

import pytest

from core.errors import BadInput
from core.graph.readers.triple_file import TripleFile
from tests.notes import NoteWith
from tests.triples import read_triples

HEAD = '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEYS = """<key id="d0" for="node" attr.name="Label" attr.type="string"/>
<key id="d1" for="edge" attr.name="relation" attr.type="string"><default>knows</default></key>
"""


def triples_of_text(tmp_path, text, name="g.graphml"):
    (tmp_path / name).write_bytes(text.encode())
    return list(read_triples(tmp_path / name))


def test_by_hand(tmp_path):
    body = """<graph edgedefault="directed">
<edge source="a" target="b"/>
<node id="a"><data key="d0">Ann &amp; &#66;ob</data></node>
<node id="b"><data key="d0">Ann &amp; Bob</data></node>
<node id="c"/>
<edge source="b" target="c"><data key="d1"> likes
 a lot</data></edge>
</graph></graphml>"""
    assert triples_of_text(tmp_path, HEAD + KEYS + body) == [
        ("Ann & Bob", "knows", "Ann & Bob (b)"),
        ("Ann & Bob (b)", "likes a lot", "c"),
    ]


def test_other_attributes_and_none(tmp_path):
    keys = '<key id="n" for="node" attr.name="name"/><key id="t" for="all" attr.name="type"/>'
    body = (
        '<graph><node id="1"><data key="n">One</data><data key="t">Film</data></node><node id="2"/>'
    )
    edges = (
        '<edge source="1" target="2"><data key="t">made</data></edge><edge source="2" '
        'target="1"/></graph></graphml>'
    )
    assert triples_of_text(tmp_path, HEAD + keys + body + edges) == [
        ("One", "made", "2"),
        ("2", "connected_to", "One"),
    ]


def test_igraph_writes_what_we_read(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=3, edges=[(0, 1), (2, 0), (0, 1)], directed=True)
    graph.vs["name"], graph.es["relation"] = ["A", "B <i>", "C"], ["r", "s", "t"]
    graph.write_graphml(str(tmp_path / "peer.graphml"))
    assert list(read_triples(tmp_path / "peer.graphml")) == [
        ("A", "r", "B <i>"),
        ("C", "s", "A"),
        ("A", "t", "B <i>"),
    ]


def test_elements_next_to_the_data_do_not_disturb_it(tmp_path):
    # Another element after a node's label, a graph inside a node, comments, text between elements.
    inner = '<graph><node id="b"/>some text<!-- none --></graph>'
    body = (
        f'<graph><node id="a"><data key="d0">Ann</data><desc>more</desc>{inner}</node><edge '
        'source="a" target="b"><port/></edge></graph>'
    )
    assert triples_of_text(tmp_path, HEAD + KEYS + body + "</graphml>") == [("Ann", "knows", "b")]


def test_an_error_far_down_names_its_line(tmp_path):
    text = "<graphml><graph>\n" + '<node id="a"/>\n' * 2 + "\n" * 70_000
    with pytest.raises(BadInput, match="line 3: there are two"):
        triples_of_text(tmp_path, text + "</graph></graphml>")
    with pytest.raises(BadInput, match="line 70004: this node lacks"):
        triples_of_text(
            tmp_path, text.replace('<node id="a"/>\n', "\n") + "<node/></graph></graphml>"
        )


BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
BOMB = (
    f'<!DOCTYPE g [<!ENTITY e0 "haha">{BOMB}]>\n<graphml><graph><node id="&e11;">&e11;</node>'
    "</graph></graphml>"
)
PARAMETER = (
    '<!DOCTYPE g [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]>\n<graphml><graph><node '
    'id="x"/></graph></graphml>'
)
LAUGHS = (
    '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<graphml><graph><node id="&b;"/>'
    "</graph></graphml>"
)
OUTSIDE = (
    '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<graphml><graph><node id="x">'
    "&a;</node></graph></graphml>"
)


@pytest.mark.parametrize(
    "text, told",
    [
        (LAUGHS, "line 1: it declares XML entities"),
        (OUTSIDE, "line 1: it declares XML entities"),
        (BOMB, "line \\d+: (it declares XML entities|not XML)"),
        (PARAMETER, "line 1: it declares XML entities"),
        ("<html/>", "first element should be <graphml>"),
        ("<graphml>\n<graph>\n</graphml>", "line 3: not XML"),
        ("", "not XML"),
        ("A\tr\tB", "line 1: not XML"),
        ("<graphml><graph>\n<node/></graph></graphml>", "line 2: this node lacks “id”"),
        (
            '<graphml><graph>\n<node id="a"/><edge source="a"/></graph></graphml>',
            "line 2: this edge lacks “target”",
        ),
        (
            '<graphml><graph>\n<node id="a"/>\n<edge source="a" target="z"/></graph></graphml>',
            "line 3: this edge names the node “z”",
        ),
        (
            '<graphml><graph>\n<node id="a"/>\n<node id="a"/></graph></graphml>',
            "line 3: there are two nodes “a”",
        ),
        ("<graphml><graph>\n<hyperedge/></graph></graphml>", "line 2: hyperedges"),
        ('<graphml><graph><node id="a"/></graph></graphml>', "no triples"),
        ("<graphml>" + "<graph>" * 99, "nested more than 64 deep"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, told):
    with pytest.raises(BadInput, match=told):
        triples_of_text(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        '<graphml><graph><node id="%s',
        "<graphml><graph><node %s",
        "<graphml><graph><node id='a'><data key='label'>%s",
        "<graphml><graph><!-- %s",
        "<graphml %s",
        "<%s",
    ],
    ids=["attribute", "attributes", "text", "comment", "root", "name"],
)
def test_a_token_without_an_end_is_refused_early(tmp_path, text):
    file = tmp_path / "long.graphml"
    file.write_text(text % ("a" * (3 << 20)))
    with pytest.raises(
        BadInput,
        match=(
            "long.graphml, line 1: (more than 1 MB without the beginning or end of an "
            "element|not XML)"
        ),
    ):
        list(read_triples(file))


def read_with_notes(tmp_path, text: str) -> tuple[list, list[str]]:
    """Triples of a file, and the notes on how it was read."""
    (tmp_path / "said.graphml").write_text(text, "utf-8")
    file = TripleFile(tmp_path / "said.graphml")
    return list(file.read()), file.tally.sentences()


def test_names_are_read_from_drawings_of_yed(tmp_path):
    shape = (
        '<y:ShapeNode><y:Fill color="#F00"/><y:NodeLabel fontSize="12">{name}</y:NodeLabel>'
        "</y:ShapeNode>"
    )
    node = f'<node id="{{id}}"><data key="d0">{shape}</data></node>'
    line = "<y:PolyLineEdge><y:EdgeLabel>sails <y:X/>on</y:EdgeLabel></y:PolyLineEdge>"
    edge = f'<edge source="a" target="b"><data key="d1">{line}</data></edge>'
    root = '<graphml xmlns:y="http://www.yworks.com/xml/graphml">'
    text = (
        f"{root}<graph>"
        f"{node.format(id='a', name='Anna')}{node.format(id='b', name='The Gull')}{edge}</graph>"
        "</graphml>"
    )
    triples, sentences = read_with_notes(tmp_path, text)
    assert triples == [("Anna", "sails", "The Gull")]
    assert sentences == [NoteWith("Entities", "“label”", "relations", "“label”")]


def test_gephi_cytoscape_and_apoc_name_relations_in_their_own_places(tmp_path):
    keys = '<key id="e" for="edge" attr.name="{name}"/><key id="n" for="edge" attr.name="name"/>'
    nodes = '<node id="a"/><node id="b" labels=":Ship"/>'
    for name in ("Edge Label", "interaction"):
        edge = (
            '<edge source="a" target="b"><data key="n">a (sails) b</data><data key="e">'
            "sails</data></edge>"
        )
        triples, sentences = read_with_notes(
            tmp_path, f"<graphml>{keys.format(name=name)}<graph>{nodes}{edge}</graph></graphml>"
        )
        assert triples == [("a", "sails", "b")] and NoteWith("not read", "edges name") in sentences
    assert read_with_notes(
        tmp_path,
        f'<graphml><graph>{nodes}<edge source="a" target="b" label="SAILS"/></graph></graphml>',
    )[0] == [("a", "SAILS", "b")]


def test_lightrag_and_nano_graphrag_have_keywords_and_quotation_marks(tmp_path):
    keys = (
        '<key id="k" for="edge" attr.name="keywords"/><key id="d" for="edge" '
        'attr.name="description"/>'
    )
    nodes = '<node id="&quot;ANNA&quot;"/><node id="ANNA"/><node id="&quot;GULL&quot;"/>'
    edges = (
        '<edge source="&quot;ANNA&quot;" target="&quot;GULL&quot;"><data key="k">'
        'sailing</data><data key="d">She sails.</data></edge>'
        '<edge source="ANNA" target="&quot;GULL&quot;"><data key="d">Another.</data></edge>'
    )
    triples, sentences = read_with_notes(
        tmp_path, f"<graphml>{keys}<graph>{nodes}{edges}</graph></graphml>"
    )
    # Two nodes never share a name.
    assert triples == [("ANNA", "sailing", "GULL"), ("ANNA (id)", "connected_to", "GULL")]
    assert sentences == [
        NoteWith("Entities", "ids", "relations", "“keywords”"),
        NoteWith("taken", "edges", "description from “description”"),
    ]


def test_relations_that_are_all_the_same_while_attributes_are_ignored_are_a_warning(tmp_path):
    keys = '<key id="k" for="edge" attr.name="verb"/>'
    edge = '<edge source="a" target="b"><data key="k">sails</data></edge>'
    triples, sentences = read_with_notes(
        tmp_path, f'<graphml>{keys}<graph><node id="a"/><node id="b"/>{edge}</graph></graphml>'
    )
    assert triples == [("a", "connected_to", "b")]
    assert sentences[1:] == [
        NoteWith("not read", "edges verb"),
        NoteWith("Every edge", "“connected_to”", "verb"),
    ]
