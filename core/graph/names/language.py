"""Language of a graph: the user's choice, or detected in its texts or names.

If a graph has no texts, the names of its entities and relations are used.
"""

from __future__ import annotations

import json
from contextlib import suppress

from core.errors import StoreError
from core.graph.names.phrases import spaced_words
from core.graph.protocol import KnowledgeGraph
from core.io.durable_files import write_whole
from core.io.plain_data import from_plain, to_plain
from core.languages import Detection, detect_language, is_english, language_of_question
from core.languages.detection import DETECTION, detection_rules
from core.languages.scripts import find_script

# Files in the folder of a graph with the user's choice, and with the detected language.
LANGUAGE_FILE, DETECTED_FILE = "language.json", "detected-language.json"
LANGUAGE_SHELF = "language"  # key of the language among the values derived from a graph
# Numbers of entity names and of relations that are sampled, and of names that are joined into one
# text for the detection.
SAMPLED_NAMES, SAMPLED_RELATIONS, NAMES_PER_TEXT = (400, 200, 20)


def graph_language(graph: KnowledgeGraph) -> Detection:
    """Return the language of a graph.

    An edited graph has the language of its original. The language of a live database is unknown,
    since its names are not loaded.

    >>> from core.graph.names.language import graph_language
    >>> graph_language(story).code
    'en'
    """
    source = graph if graph.edited_from is None else graph.edited_from.graph
    return source.derived.get_or_make(
        LANGUAGE_SHELF, None, lambda: _read_choice(source) or _detect_once(source)
    )


def language_code(graph: KnowledgeGraph, question: str) -> str:
    """Return the language code of a question to a graph.

    It is the language in which the question is read, empty for English. A question in Latin letters
    to an English graph counts as English, whatever foreign names it contains.

    >>> from core.graph.names.language import language_code
    >>> language_code(story, "Ist Tim lahm?"), language_code(story, "Кто такой Tim, сын писца?")
    ('', 'ru')
    """
    graph_code = graph_language(graph).code
    if is_english(graph_code) and (question.isascii() or find_script(question) in ("Latin", "")):
        return ""
    code = language_of_question(question) or graph_code
    return "" if is_english(code) else code


def choose_language(graph: KnowledgeGraph, code: str) -> Detection:
    """Save the user's choice of a graph's language, and return it.

    With an empty code, the choice is removed and the language is detected again.

    Raises
    ------
    StoreError
        If the graph has no folder, or it cannot be written.
    """
    if graph.folder is None:
        raise StoreError(
            f"The graph “{graph.name}” is not stored in a folder, so that its language cannot be "
            "saved."
        )
    file = graph.folder / LANGUAGE_FILE
    try:
        if code:
            text = json.dumps(to_plain(Detection(code, chosen=True)))
            write_whole(file, lambda temporary: temporary.write_text(text, "utf-8"))
        else:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"The language cannot be saved in {file}: {error.strerror or error}."
        ) from None
    shelf = graph.derived.cache_of(LANGUAGE_SHELF)
    with shelf.lock:
        shelf.values.clear()
        shelf.latest = None
    return graph_language(graph)


def _read_choice(graph: KnowledgeGraph) -> Detection | None:
    """Return the user's choice of a language.

    The result is None if there is none or it cannot be read.
    """
    if graph.folder is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        return from_plain(Detection, json.loads((graph.folder / LANGUAGE_FILE).read_text("utf-8")))
    return None


def _detect_once(graph: KnowledgeGraph) -> Detection:
    """Return the detected language, which is saved beside the graph.

    It is detected again if the graph or the rules have changed.
    """
    if graph.folder is None or graph.live is not None:
        return _detect_language(graph)
    file, stamp = graph.folder / DETECTED_FILE, [graph.digest, detection_rules()]
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        saved = json.loads(file.read_text("utf-8"))
        if saved["of"] == stamp:
            return from_plain(Detection, saved["detection"])
    detection = _detect_language(graph)
    text = json.dumps({"of": stamp, "detection": to_plain(detection)})
    with suppress(OSError):  # in a folder that cannot be written it is detected each time
        write_whole(file, lambda temporary: temporary.write_text(text, "utf-8"), durable=False)
    return detection


def _detect_language(graph: KnowledgeGraph) -> Detection:
    """Detect the language from a sample of the graph's texts or names."""
    if graph.live is not None:
        return Detection()
    chunks = graph.columns.chunks
    if chunks is not None and len(chunks):
        step = max(1, -(-len(chunks) // DETECTION.sample_pieces))
        return detect_language(chunks.texts("text", range(0, len(chunks), step)))
    step = max(1, -(-graph.n_nodes // SAMPLED_NAMES))
    names = graph.names(range(0, graph.n_nodes, step))
    texts = [
        ", ".join(names[first : first + NAMES_PER_TEXT])
        for first in range(0, len(names), NAMES_PER_TEXT)
    ]
    relation_text = ", ".join(map(spaced_words, graph.relation_names[:SAMPLED_RELATIONS]))
    return detect_language([*texts, relation_text])
