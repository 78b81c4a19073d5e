"""Question sets of HuggingFace's hub (`hf:`) and `ir_datasets` (`irds:`).

Sets of the hub are loaded by the package `datasets`. Each set is fetched once into the person's
folder and then read like any other file: a set of the hub as Parquet, one of `ir_datasets` as a
folder in BEIR's form. Checked against datasets 5.2.0 and ir_datasets 0.6.3.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from core.errors import BadInput, HopscopeError, shorten, suggest_name, with_command
from core.io.durable_files import move_into_place
from core.io.home import home_folder
from core.io.names import avoid_device_name
from core.io.temporary_folders import temporary_folder
from core.watch import NO_WATCH, Watch

HUB = "hf:"
IRDS = "irds:"
# If no split is named, the first of these that the set has is taken.
USUAL_SPLITS = ("test", "validation", "dev", "train")
ROWS_PER_REPORT = 10_000  # rows between two progress reports
HUB_REACH_SECONDS = 10.0  # seconds in which a hub must answer
# Names of the errors that several libraries raise if the hub cannot be reached.
UNREACHED_ERRORS = {
    "ConnectionError",
    "TransportError",
    "OfflineModeIsEnabled",
    "LocalEntryNotFoundError",
}
UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")  # replaced in file names


@dataclass(frozen=True)
class FetchedSet:
    """The path of a fetched set, and a sentence on the set."""

    path: Path
    note: str


def is_set_id(text: str | Path) -> bool:
    """Return whether a text is the id of a set: `hf:rmanluo/RoG-webqsp`, `irds:beir/scifact/test`.

    Other texts are paths of files.
    """
    return str(text).startswith((HUB, IRDS))


def fetch_set(id: str, watch: Watch = NO_WATCH) -> FetchedSet:
    """Return the set of an id, fetched unless it was saved before.

    The id is `hf:NAME`, followed by `:CONFIGURATION` and `:SPLIT` if the set has several. Without a
    split, the first of `USUAL_SPLITS` that the set has is taken. NAME may be a local folder that
    `datasets.load_dataset` reads. The other form is `irds:ID`, as `ir_datasets.load` takes it.

    Raises
    ------
    BadInput
        If the id is wrong, the hub cannot be reached, or the package is not installed.
    """
    source, _, name = id.partition(":")
    if not name.strip():
        raise BadInput(
            "Name a set behind the colon, as in hf:rmanluo/RoG-webqsp or irds:beir/scifact/test."
        )
    return _fetch_hub(name, watch) if f"{source}:" == HUB else _fetch_irds(name, watch)


def saved_set_path(id: str) -> Path:
    """Return the path of a saved set, without a suffix."""
    return home_folder() / "fetched" / avoid_device_name(UNSAFE_CHARACTERS.sub("-", id).strip("-."))


def _fetch_hub(name: str, watch: Watch = NO_WATCH) -> FetchedSet:
    repository, *parts = name.split(":")
    file = saved_set_path(HUB + name + ".parquet")
    split_file = file.with_suffix(".txt")
    if not file.exists():
        datasets = _package("datasets")
        watch.report(f"Looking for {repository}")
        config, split, splits = _choose_split(datasets, repository, list(filter(None, parts)))
        datasets.disable_progress_bars()
        rows = _ask_library(
            repository,
            lambda: datasets.load_dataset(repository, config, split=split, streaming=True),
        )
        watch.report(f"Fetching {split} of {repository}")
        _write_in_place(
            split_file,
            lambda part: part.write_text(f"the split {split} (of {', '.join(splits)})", "utf-8"),
        )
        _write_in_place(
            file, lambda part: _ask_library(repository, lambda: rows.to_parquet(str(part)))
        )
    content = split_file.read_text("utf-8") if split_file.exists() else "rows"
    return FetchedSet(
        file, f"{HUB}{name}: {content}, saved in {file}; remove that file to fetch it again."
    )


def _choose_split(
    datasets: ModuleType, repository: str, parts: Sequence[str]
) -> tuple[str, str, list[str]]:
    """Return the configuration and the split to fetch, and all splits of that configuration.

    `parts` are the parts of the id after the name of the set. Raises BadInput for a part that names
    neither a configuration nor a split; the message names the existing ones.
    """
    if not Path(repository).exists():
        _check_reachable(repository)
    configs = _ask_library(repository, lambda: datasets.get_dataset_config_names(repository))
    config = _choose_config(repository, configs, parts)
    splits = _ask_library(repository, lambda: datasets.get_dataset_split_names(repository, config))
    named_splits = [part for part in parts if part != config]
    wrong = [part for part in named_splits if part not in splits] or named_splits[1:]
    if wrong:
        similar = suggest_name(wrong[0], [*configs, *splits])
        raise BadInput(
            f"{repository} has no split “{shorten(wrong[0], 40)}”.{similar} It has "
            f"{', '.join(splits)}."
        )
    if named_splits:
        return config, named_splits[0], splits
    usual_split = next((split for split in USUAL_SPLITS if split in splits), None)
    return config, usual_split or splits[0], splits


def _choose_config(repository: str, configs: Sequence[str], parts: Sequence[str]) -> str:
    """Return the configuration that a part names, else `default` or the only one.

    Raises BadInput if several remain.
    """
    for part in parts:
        if part in configs:
            return part
    if "default" in configs:
        return "default"
    if len(configs) == 1:
        return configs[0]
    raise BadInput(
        f"{repository} has several configurations: name one, as in "
        f"{HUB}{repository}:{configs[0]}. It has {', '.join(configs)}."
    )


def _check_reachable(repository: str) -> None:
    """Raise BadInput if the hub does not answer within `HUB_REACH_SECONDS`.

    The library itself would try for half a minute.
    """
    from huggingface_hub import HfApi

    _ask_library(repository, lambda: HfApi().dataset_info(repository, timeout=HUB_REACH_SECONDS))


def _ask_library(repository: str, ask: Callable[[], Any]) -> Any:
    """Return the result of `ask`, which calls a library.

    Raises BadInput if the hub cannot be reached, has no such set, or the library cannot read it.
    """
    try:
        return ask()
    except HopscopeError:
        raise
    except Exception as error:  # each library raises its own errors, which change between versions
        names = {error_class.__name__ for error_class in type(error).__mro__}
        if "RepositoryNotFoundError" in names or "DatasetNotFoundError" in names:
            raise BadInput(
                f"There is no set {repository} on the hub, or it asks for permission."
            ) from None
        if names & UNREACHED_ERRORS:
            instead = "Fetch its files elsewhere and name them instead."
            raise BadInput(
                f"No hub can be reached, so {repository} cannot be fetched. {instead}"
            ) from None
        raise BadInput(
            f"{repository} cannot be read by its library: "
            f"{shorten(str(error) or type(error).__name__, 200)}."
        ) from None


def _fetch_irds(name: str, watch: Watch = NO_WATCH) -> FetchedSet:
    folder = saved_set_path(IRDS + name)
    if not folder.exists():
        library = _package("ir_datasets")
        dataset = _ask_library(name, lambda: _load_set(library, name))
        if not dataset.has_docs():
            raise BadInput(f"{IRDS}{name} has no documents.")
        _write_in_place(
            folder, lambda part: _ask_library(name, lambda: _write_set(dataset, part, name, watch))
        )
    return FetchedSet(
        folder, f"{IRDS}{name}: saved in {folder}; remove that folder to fetch it again."
    )


def _load_set(library: ModuleType, name: str) -> Any:
    try:
        return library.load(name)
    except KeyError:
        raise BadInput(
            f"There is no set {IRDS}{name}; ir_datasets lists them with: ir_datasets list."
        ) from None


def _write_set(dataset: Any, folder: Path, name: str, watch: Watch = NO_WATCH) -> None:
    """Write a set of `ir_datasets` as a folder in BEIR's form."""
    (folder / "qrels").mkdir(parents=True)
    _write_lines(
        folder / "corpus.jsonl",
        dataset.docs_iter(),
        _document_row,
        lambda done: watch.report(f"Fetching {name}: {done:,} documents"),
    )
    if dataset.has_queries():
        _write_lines(
            folder / "queries.jsonl", dataset.queries_iter(), _query_row, lambda done: None
        )
    if dataset.has_qrels():
        with open(folder / "qrels" / f"{name.split('/')[-1]}.tsv", "w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            file.writelines(
                f"{judgement.query_id}\t{judgement.doc_id}\t{judgement.relevance}\n"
                for judgement in dataset.qrels_iter()
            )


def _query_row(query: Any) -> dict[str, str]:
    return {"_id": query.query_id, "text": " ".join(query.default_text().split())}


def _document_row(document: Any) -> dict[str, str]:
    title = getattr(document, "title", "") or ""
    text = getattr(document, "text", None) or document.default_text().removeprefix(title).strip()
    return {"_id": document.doc_id, "title": title, "text": text}


def _write_lines(
    file: Path,
    records: Iterable[Any],
    make_row: Callable[[Any], dict[str, str]],
    report: Callable[[int], None],
) -> None:
    """Write a line of JSON for each record, and report progress."""
    with open(file, "w", encoding="utf-8") as stream:
        for number, record in enumerate(records):
            stream.write(json.dumps(make_row(record), ensure_ascii=False) + "\n")
            if number % ROWS_PER_REPORT == 0:
                report(number)


def _write_in_place(target: Path, write: Callable[[Path], Any]) -> None:
    """Write a file or folder in a temporary folder, then move it to `target`.

    Raises BadInput if it cannot be stored.
    """
    folder = temporary_folder()
    try:
        write(folder / target.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        move_into_place(folder / target.name, target)
    except OSError as error:
        raise BadInput(
            f"The set cannot be stored in {target.parent}: {error.strerror or error}."
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _package(name: str) -> ModuleType:
    """Import a package. Raises BadInput with the command that installs it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise BadInput(
            with_command(
                f"Sets named by an id need the package {name}, which is not installed.",
                f"pip install {name}",
            )
        ) from None
