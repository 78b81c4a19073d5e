"""Indexes of microsoft/graphrag: a small part of a real one, also in the forms of earlier
versions.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.corpus.indexes.files import files_at_path
from core.corpus.indexes.index_assembly import UNNAMED_RELATION_LABEL, assemble_index
from core.corpus.indexes.microsoft import read_index
from core.errors import BadInput
from tests.core.corpus.indexes import kit
from tests.core.corpus.indexes.kit import RECORDED

REAL = RECORDED / "graphrag"
TABLES = (
    "documents",
    "text_units",
    "entities",
    "relationships",
    "communities",
    "community_reports",
    "covariates",
)


def index_in(folder):
    tool, index = kit.index_in(folder)
    assert tool == "graphrag"
    return index


def rows(name: str) -> list[dict]:
    return pq.read_table(REAL / f"{name}.parquet").to_pylist()


def write_tables(folder, **tables):
    """Write the given tables to a folder, by name."""
    folder.mkdir(exist_ok=True)
    for name, found in tables.items():
        pq.write_table(pa.Table.from_pylist(found), folder / f"{name}.parquet")
    return folder


def drop_columns(found: list[dict], *columns: str) -> list[dict]:
    return [{key: value for key, value in row.items() if key not in columns} for row in found]


def rename_columns(found: list[dict], **names: str) -> list[dict]:
    return [{names.get(key, key): value for key, value in row.items()} for row in found]


def write_old_index(folder, first: bool):
    """Write the real index as version 1 does, or with `first` as versions before it do.

    Tables and columns have other names, and only the nodes name the members of communities.
    """
    titles = {row["id"]: row["title"] for row in rows("entities")}
    nodes = [
        {
            "id": id,
            "title": titles[id],
            "community": str(one["community"]) if first else one["community"],
            "level": one["level"],
        }
        for one in rows("communities")
        for id in one["entity_ids"]
    ]
    units = [
        {**row, "document_ids": [row["document_id"]]} for row in drop_columns(rows("text_units"))
    ]
    communities = drop_columns(rows("communities"), "entity_ids", "parent", "children")
    if first:
        communities = drop_columns(
            [{**row, "id": str(row["community"])} for row in communities], "community"
        )
    tables = {
        "documents": rename_columns(rows("documents"), text="raw_content")
        if first
        else rows("documents"),
        "text_units": drop_columns(units, "document_id"),
        "entities": rename_columns(rows("entities"), title="name") if first else rows("entities"),
        "relationships": rows("relationships"),
        "nodes": nodes,
        "communities": communities,
        "community_reports": [
            {**row, "community": str(row["community"])} for row in rows("community_reports")
        ],
        "covariates": rows("covariates"),
    }
    return write_tables(folder, **{f"create_final_{name}": found for name, found in tables.items()})


def test_a_real_index_has_its_texts_entities_relations_and_communities():
    found = index_in(REAL)
    assert found.form == "version 3" and found.left_out == {"Left out, claims (covariates)": 2}
    (document,) = found.documents
    assert (document.title, document.file) == ("", "dulce.txt") and all(
        one.document == document.key and one.text in document.text for one in found.chunks
    )
    mercer = next(one for one in found.entities if one.name == "ALEX MERCER")
    assert mercer.type == "PERSON" and mercer.description.startswith(
        "Agent Alex Mercer is a determined"
    )
    assert mercer.chunks == tuple(one.key for one in found.chunks)
    first = found.relations[0]
    assert (first.head, first.tail, first.weight) == (
        "ALEX MERCER",
        "PARANORMAL MILITARY SQUAD",
        17.0,
    )
    communities = {one.key: one for one in found.communities}
    assert {key: (one.level, one.parent, one.rating) for key, one in communities.items()} == {
        "0": (0, "", 8.5),
        "3": (0, "", 0.0),
        "7": (1, "0", 8.5),
        "8": (1, "0", 8.0),
    }
    assert communities["7"].members == ("PARANORMAL MILITARY SQUAD",)
    assert (
        communities["0"].title == "Paranormal Military Squad and Operation: Dulce"
        and communities["3"].title == "Community 3"
    )
    # The report does not contain its title.
    assert communities["0"].report.startswith(
        "This community centers on the Paranormal Military Squad"
    )


def test_the_graph_keeps_the_index_and_counts_missing_items():
    opened = assemble_index(index_in(REAL), "graphrag", "dulce")
    graph, columns = opened.graph, opened.graph.columns
    assert (graph.n_nodes, graph.n_edges, len(columns.chunks), len(columns.communities)) == (
        8,
        12,
        2,
        4,
    )
    # One relation ends in an elevator, which is no entity.
    assert opened.left_out == {
        "Left out, claims (covariates)": 2,
        "Left out, relations of an entity that the index lacks": 1,
    }
    assert columns.chunks.texts("id") == [
        "dulce.txt#graphrag-0",
        "dulce.txt#graphrag-1",
    ] and graph.relation_names == (UNNAMED_RELATION_LABEL,)
    node = graph.names(range(8)).index("JORDAN HAYES")
    assert columns.nodes.id_lists("chunks")[node].tolist() == [0, 1]
    parents, titles = (
        columns.communities.numbers("parent").tolist(),
        columns.communities.texts("title"),
    )
    assert [titles[at] for at in parents if at >= 0] == [
        "Paranormal Military Squad and Operation: Dulce"
    ] * 2
    squad = columns.communities.id_lists("members")[
        titles.index("Paranormal Military Squad and Operation Dulce")
    ].tolist()
    assert graph.names(squad) == ["PARANORMAL MILITARY SQUAD"]


@pytest.mark.parametrize("first, form", [(False, "version 1"), (True, "a version before 1")])
def test_earlier_forms_give_the_same_graph(first, form, tmp_path):
    earlier = index_in(write_old_index(tmp_path / "old", first))
    assert earlier.form == form
    # The parents follow from the members.
    assert {one.key: one.parent for one in earlier.communities} == {
        "0": "",
        "3": "",
        "7": "0",
        "8": "0",
    }
    assert (
        assemble_index(earlier, "graphrag", "dulce").graph.digest
        == assemble_index(index_in(REAL), "graphrag", "dulce").graph.digest
    )


def test_text_units_of_version_2_name_a_list_of_documents(tmp_path):
    units = drop_columns(
        [{**row, "document_ids": [row["document_id"]]} for row in rows("text_units")], "document_id"
    )
    second = index_in(
        write_tables(
            tmp_path / "two", **{name: rows(name) for name in TABLES} | {"text_units": units}
        )
    )
    assert second.form == "version 2"
    assert (
        assemble_index(second, "graphrag", "dulce").graph.digest
        == assemble_index(index_in(REAL), "graphrag", "dulce").graph.digest
    )


def test_a_missing_column_and_a_damaged_table_are_named(tmp_path):
    tables = {name: rows(name) for name in ("text_units", "entities", "relationships")}
    folder = write_tables(
        tmp_path / "lacking",
        **tables | {"relationships": drop_columns(tables["relationships"], "source", "target")},
    )
    with pytest.raises(
        BadInput, match=r"relationships.parquet lacks the columns source, target; it has id, human"
    ):
        index_in(folder)
    (folder / "relationships.parquet").write_bytes(
        (REAL / "relationships.parquet").read_bytes()[:700]
    )
    with pytest.raises(BadInput, match="relationships.parquet is damaged"):
        index_in(folder)
    (folder / "relationships.parquet").write_bytes(b"")
    with pytest.raises(BadInput, match="relationships.parquet is damaged"):
        read_index(files_at_path(folder)[0])


def test_values_that_are_none_or_no_number_are_empty(tmp_path):
    """Pandas writes missing values as null or NaN."""
    found = index_in(
        write_tables(
            tmp_path / "bare",
            entities=[
                {
                    "id": "e",
                    "title": "ANN",
                    "type": None,
                    "description": None,
                    "text_unit_ids": None,
                }
            ],
            relationships=[
                {"source": "ANN", "target": "ANN", "weight": float("nan"), "description": None}
            ],
            text_units=[{"id": "t", "text": "Ann."}],
        )
    )
    assert (
        found.entities[0].type,
        found.entities[0].chunks,
        found.relations[0].weight,
        found.documents,
    ) == ("", (), 1.0, [])
    opened = assemble_index(found, "graphrag", "bare")
    assert [(one.id, one.text) for one in opened.documents] == [
        ("t", "Ann.")
    ] and opened.graph.columns.chunks.texts("id") == ["t"]
