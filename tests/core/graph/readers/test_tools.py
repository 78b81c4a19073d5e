"""Files that other tools write are all read as the same two triples.

There is one file for each tool that docs/formats.md names with a version.
"""

from __future__ import annotations

import re

import pytest

from core.graph.readers.formats import FORMATS
from core.graph.readers.triple_file import TripleFile

TWO = [("Anna", "sails", "The Gull"), ("The Gull", "built in", "Turku")]
LINKS = [(head, "connected_to", tail) for head, _, tail in TWO]
NAMES = ["Anna", "The Gull", "Turku"]


def networkx_graph(relation: bool = True):
    import networkx

    graph = networkx.DiGraph()
    for head, label, tail in TWO:
        graph.add_edge(head, tail, **({"relation": label} if relation else {}), weight=2.0)
    return networkx, graph


def by_networkx(write: str):
    def write_file(file):
        networkx, graph = networkx_graph(write != "write_pajek")
        getattr(networkx, write)(graph, file)

    return write_file


def networkx_edges(file):
    networkx, graph = networkx_graph(relation=False)
    graph = networkx.relabel_nodes(graph, lambda name: name.replace(" ", "_"))
    networkx.write_weighted_edgelist(graph, file)


def networkx_rows(file):
    import json

    networkx, graph = networkx_graph()
    file.write_text(json.dumps(networkx.node_link_data(graph)), "utf-8")


def igraph_graph():
    import igraph

    graph = igraph.Graph([(0, 1), (1, 2)], directed=True)
    graph.vs["name"], graph.es["relation"], graph.es["weight"] = (
        NAMES,
        [relation for _, relation, _ in TWO],
        [2.0, 2.0],
    )
    return graph


def igraph_edges(file):
    graph = igraph_graph()
    graph.vs["name"] = [name.replace(" ", "_") for name in NAMES]
    graph.write_ncol(str(file))


def pandas_frame():
    import pandas

    return pandas.DataFrame(TWO, columns=["head", "relation", "tail"]).assign(weight=2.0)


def by_pyoxigraph(syntax: str):
    def write_file(file):
        import pyoxigraph as ox

        node = lambda name: ox.NamedNode(f"http://a/{name.replace(' ', '%20')}")
        form = getattr(ox.RdfFormat, syntax)
        kind = ox.Quad if syntax in ("N_QUADS", "TRIG") else ox.Triple
        ox.serialize([kind(*map(node, triple)) for triple in TWO], str(file), format=form)

    return write_file


def by_pyarrow(file):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table(
        {
            "head": [a for a, _, _ in TWO],
            "relation": [b for _, b, _ in TWO],
            "tail": [c for _, _, c in TWO],
            "weight": [2.0, 2.0],
        }
    )
    if file.suffix == ".parquet":
        pyarrow.parquet.write_table(table, file)
    else:
        pyarrow.feather.write_feather(table, str(file))


SYNTAXES = {
    "ntriples": "N_TRIPLES",
    "turtle": "TURTLE",
    "nquads": "N_QUADS",
    "trig": "TRIG",
    "rdfxml": "RDF_XML",
    "jsonld": "JSON_LD",
    "n3": "N3",
}
WRITERS = {
    ("graphml", "networkx"): by_networkx("write_graphml"),
    ("gexf", "networkx"): by_networkx("write_gexf"),
    ("gml", "networkx"): by_networkx("write_gml"),
    ("pajek", "networkx"): by_networkx("write_pajek"),
    ("edges", "networkx"): networkx_edges,
    ("rows", "networkx"): networkx_rows,
    ("graphml", "igraph"): lambda file: igraph_graph().write_graphml(str(file)),
    ("gml", "igraph"): lambda file: igraph_graph().write_gml(str(file)),
    ("edges", "igraph"): igraph_edges,
    ("comma", "pandas"): lambda file: pandas_frame().to_csv(file, index=False),
    ("tab", "pandas"): lambda file: pandas_frame().to_csv(file, index=False, sep="\t"),
    ("tab-quoted", "pandas"): lambda file: pandas_frame().to_csv(
        file, index=False, sep="\t", quoting=1
    ),
    ("parquet", "pandas"): lambda file: pandas_frame().to_parquet(file),
    ("parquet", "pyarrow"): by_pyarrow,
    ("arrow", "pyarrow"): by_pyarrow,
    **{(name, "pyoxigraph"): by_pyoxigraph(syntax) for name, syntax in SYNTAXES.items()},
}


def test_every_tool_with_a_version_writes_a_file_here():
    named = {
        (name, tool)
        for name, one in FORMATS.items()
        for tool in re.findall(r"([a-z]+) \d+\.[\d.]+\d", one.tools)
    }
    assert named == set(WRITERS)


@pytest.mark.parametrize(("format", "tool"), WRITERS, ids=lambda part: part)
def test_what_a_tool_writes_is_read(tmp_path, format, tool):
    pytest.importorskip(tool)
    suffix = next(iter(FORMATS[format].suffixes), ".tsv")
    WRITERS[format, tool](tmp_path / f"g{suffix}")
    file = TripleFile(tmp_path / f"g{suffix}", format if format == "tab-quoted" else "auto")
    found = sorted(
        (head.replace("_", " "), relation, tail.replace("_", " "))
        for head, relation, tail in file.read()
    )
    assert found == (sorted(LINKS) if format in ("edges", "pajek") else sorted(TWO))
    assert file.attributes.first_rows(2).get("weight") == (
        None if format in SYNTAXES else [2.0, 2.0]
    )
