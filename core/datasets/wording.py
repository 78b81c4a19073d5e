"""Table of words for a graph's relations.

It is from the graph's data set or from a user's file. `relations.py` makes phrases with it.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path as FilePath

from core.datasets.catalogue import DATASET_DESCRIPTION, shipped_datasets
from core.datasets.relations import read_relation_words
from core.errors import BadInput
from core.io.home import graphs_folder
from core.io.toml_file import read_toml


def relation_table(graph_name: str) -> Mapping[str, tuple[str, str]]:
    """Return the words of a graph's relations, by relation.

    They are the words along the triple and against it. They come from the `dataset.toml` of the
    data set, or from that in the folder of a user's graph. The table is empty if there is no such
    file.
    """
    name = graph_name.partition(":")[0]  # without the id of a question that has its own graph
    dataset = shipped_datasets().get(name)
    if dataset is not None:
        return dataset.relations
    file = graphs_folder() / name / DATASET_DESCRIPTION
    return _read_words(file, file.stat().st_mtime_ns) if file.exists() else {}


@lru_cache(maxsize=64)
def _read_words(file: FilePath, stamp: int) -> Mapping[str, tuple[str, str]]:
    # `stamp` is part of the cache's key, so a changed file is read again.
    try:
        return read_relation_words(read_toml(file).get("relations", {}))
    except OSError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError, BadInput) as error:
        logging.getLogger(__name__).warning("%s is not read: %s", file, error)
        return {}
