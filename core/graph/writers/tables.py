"""Export of a graph as two tables, of nodes and of edges: CSV for Neo4j, or Parquet."""

from __future__ import annotations

import csv
from pathlib import Path as FilePath

from core.graph.protocol import KnowledgeGraph
from core.graph.writers.parts import edge_columns, edge_parts, node_columns, node_parts
from core.watch import NO_WATCH, Watch

# Column of the graph -> name of the column in neo4j-admin's CSV.
CSV_HEADS = {
    "type": ":LABEL",
    "description": "description",
    "keywords": "keywords",
    "weight": "weight:float",
}
# Names of the two files without their suffixes.
NODES_STEM, EDGES_STEM = "nodes", "edges"


def write_neo4j(graph: KnowledgeGraph, folder: FilePath, watch: Watch = NO_WATCH) -> None:
    """Write `nodes.csv` and `edges.csv` for the import of neo4j-admin, into a new folder.

    Ids are the numbers of nodes, and names are the property `name`. Types become labels of nodes;
    several types are separated by semicolons.
    """
    folder.mkdir()
    with open(folder / f"{NODES_STEM}.csv", "w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow([":ID", "name", *(CSV_HEADS[name] for name in node_columns(graph))])
        for nodes in node_parts(graph, watch.part(0.0, 0.5)):
            ids = range(nodes.first, nodes.first + len(nodes.names))
            columns = dict(nodes.columns)
            if "type" in columns:
                columns["type"] = [type.replace(", ", ";") for type in columns["type"]]
            rows.writerows(zip(ids, nodes.names, *columns.values()))
    with open(folder / f"{EDGES_STEM}.csv", "w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(
            [":START_ID", ":TYPE", ":END_ID", *(CSV_HEADS[name] for name in edge_columns(graph))]
        )
        for edges in edge_parts(graph, watch.part(0.5, 1.0)):
            relations = [graph.relation_names[id] for id in edges.relations.tolist()]
            rows.writerows(
                zip(edges.heads.tolist(), relations, edges.tails.tolist(), *edges.columns.values())
            )


def write_parquet(graph: KnowledgeGraph, folder: FilePath, watch: Watch = NO_WATCH) -> None:
    """Write `nodes.parquet` and `edges.parquet` into a new folder.

    The columns of nodes are name, type and description. Those of edges are head, relation, tail,
    description, keywords and weight. Columns that the graph lacks are left out. Heads, relations
    and tails are names.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    def make_schema(names: list[str]) -> pa.Schema:
        types = [pa.float32() if name == "weight" else pa.string() for name in names]
        return pa.schema(list(zip(names, types)))

    folder.mkdir()
    schema = make_schema(["name", *node_columns(graph)])
    with ParquetWriter(folder / f"{NODES_STEM}.parquet", schema) as writer:
        for nodes in node_parts(graph, watch.part(0.0, 0.5)):
            writer.write_table(pa.table({"name": nodes.names, **nodes.columns}, schema))
    schema = make_schema(["head", "relation", "tail", *edge_columns(graph)])
    with ParquetWriter(folder / f"{EDGES_STEM}.parquet", schema) as writer:
        for edges in edge_parts(graph, watch.part(0.5, 1.0)):
            relations = [graph.relation_names[id] for id in edges.relations.tolist()]
            triple_columns = {
                "head": graph.names(edges.heads),
                "relation": relations,
                "tail": graph.names(edges.tails),
            }
            writer.write_table(pa.table({**triple_columns, **edges.columns}, schema))
