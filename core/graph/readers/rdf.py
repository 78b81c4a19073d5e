"""Reader of triples in RDF files of any syntax, parsed by pyoxigraph.

Resources are named by their labels if the file has labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, suggest_name
from core.graph.readers.ntriples import (
    CACHED_TERM_NAMES,
    ERROR_POSITION,
    NESTED_TRIPLES_ERROR,
    LineLengthGuard,
    NestingGuard,
    local_name,
    name_candidates,
)
from core.graph.readers.source import Triple, TripleSource, bare_suffix
from core.graph.readers.unique_names import Namer
from core.io.files import PACKED_SUFFIXES, UnpackedBytes

# pyoxigraph's name of each syntax.
PYOXIGRAPH_FORMATS = {
    "ntriples": "N_TRIPLES",
    "turtle": "TURTLE",
    "nquads": "N_QUADS",
    "trig": "TRIG",
    "rdfxml": "RDF_XML",
    "jsonld": "JSON_LD",
    "n3": "N3",
}
SYNTAX_BY_SUFFIX = {
    ".nt": "ntriples",
    ".ttl": "turtle",
    ".nq": "nquads",
    ".trig": "trig",
    ".rdf": "rdfxml",
    ".owl": "rdfxml",
    ".jsonld": "jsonld",
    ".n3": "n3",
}
# Relations of labels, the preferred ones first.
LABEL_IRIS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
)
# Relations of descriptions, the preferred ones first.
DESCRIPTION_IRIS = (
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://purl.org/dc/terms/description",
    "http://purl.org/dc/elements/1.1/description",
    "http://dbpedia.org/ontology/abstract",
)
# Relations whose literal is a type.
TYPE_IRIS = ("http://schema.org/additionalType", "https://schema.org/additionalType")
# Uses of literals: as entities of triples, as attributes of their subjects, or none.
LITERAL_TRIPLES = "triples"
LITERAL_ATTRIBUTES = "attributes"
LITERALS_LEFT_OUT = "leave-out"
LITERAL_USES = (LITERAL_TRIPLES, LITERAL_ATTRIBUTES, LITERALS_LEFT_OUT)
# Pattern of Wikidata's relations, which have the labels of their properties.
WIKIDATA_PROPERTY = re.compile(
    r"http://www\.wikidata\.org/prop/"
    r"(?:(?:direct|direct-normalized|statement|qualifier)/)?(P\d{1,12})"
)
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
# Tag of Wikidata for a name that is the same in all languages.
ALL_LANGUAGES = "mul"
# Value instead of a language, with which resources are named by their identifiers.
NO_LABELS = "none"
# Base to which relative IRIs are resolved.
BASE_IRI = "http://localhost/"
# Largest text in bytes whose labels are searched by default.
MAX_LABEL_SEARCH_BYTES = 1 << 27
# Assumed number of bytes of text per byte of a packed file.
UNPACKED_RATIO = 6
# Number of statements that are checked to find out if a file holds only labels.
FIRST_STATEMENTS = 1000
# Number of bytes that are read and searched together.
SCAN_BYTES = 1 << 20
# Declaration of an entity that is external or contains another entity.
NESTED_XML_ENTITY = re.compile(
    rb"<!ENTITY\s+(?:%\s+)?[^\s>]+\s+(?:SYSTEM|PUBLIC|\"[^\"]*[&%]|'[^']*[&%])"
)
# A comment or processing instruction; its end may be missing, since only the beginning is read.
XML_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
# Beginning of a document up to its first element, with a document type if there is one.
XML_FIRST_ELEMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<!DOCTYPE[^\[>]*+(?:\[(?:[^\]\"']++|\"[^\"]*+\"|'[^']*+')*+\]\s*+)?>\s*+)?<\w"
)


def check_language(language: str) -> None:
    """Raise BadInput unless `language` is a language tag, empty or “none”."""
    if language and language != NO_LABELS and not LANGUAGE_TAG.fullmatch(language):
        raise BadInput(
            f"Labels are chosen by the tag of a language, such as en or pt-BR, or {NO_LABELS}; "
            f"not “{language}”."
        )


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples of an RDF file, in its order; named graphs are merged.

    A resource or relation is named by its label. Statements that give labels are then no triples.
    Resources without a label, and all of them if the language of the source is “none”, are named as
    described in `core.graph.readers.ntriples`. Wikidata's relations (wdt:P50, p:P50, ps:P50) have
    the labels of their properties (wd:P50). Other literals are entities of triples, attributes of
    their subjects or left out, depending on `literals` of the source (`LITERAL_USES`).

    Raises
    ------
    BadInput
        With file and line, if the text does not have the syntax.

    Notes
    -----
    Of several labels of a resource one is selected:

    1. by its relation: rdfs:label before skos:prefLabel before schema:name;
    2. among equal relations by its language: the `language` of the source, or English if the source
       names none, then “mul” (one name for all languages), English, no language, any other.
    """
    from pyoxigraph import DefaultGraph, Literal

    labels = labels_of(source)
    names = _TermNames(labels, source.format)
    graphs: set[str] = set()
    literal_counts: Counter[str] = Counter()
    attributes = _LiteralAttributes(source.language)
    try:
        for statement in _statements(source, source.path, source.format):
            if isinstance(statement.object, Literal):
                if labels and statement.predicate.value in LABEL_IRIS:
                    continue
                literal_counts[statement.predicate.value] += 1
                if source.literals == LITERAL_ATTRIBUTES:
                    attributes.add(statement)
                if source.literals != LITERAL_TRIPLES:
                    continue
            if not isinstance(statement.graph_name, DefaultGraph):
                graphs.add(str(statement.graph_name))
            if source.literals == LITERAL_ATTRIBUTES:
                attributes.nodes.update((statement.subject, statement.object))
            yield (
                names.node(statement.subject),
                names.relation(statement.predicate),
                names.node(statement.object),
            )
    finally:
        attributes.pass_to(source, names)
        if graphs:
            source.tally.note(f"{len(graphs):,} named graph{'s' * (len(graphs) != 1)} read as one.")
        n_literals = literal_counts.total()
        if n_literals:
            source.tally.note(
                f"{n_literals:,} literal{'s' * (n_literals != 1)} "
                f"{_literals_phrase(source, literal_counts)}"
            )


def _literals_phrase(source: TripleSource, literal_counts: Counter[str]) -> str:
    """Return the end of a sentence about the use of literals.

    It names their commonest relations.
    """
    verb = "is" if literal_counts.total() == 1 else "are"
    names = ", ".join(local_name(iri) for iri, _ in literal_counts.most_common(6))
    relations_text = f"{names}{' …' * (len(literal_counts) > 6)}"
    if source.literals == LITERAL_TRIPLES:
        return (
            f"{verb} {'an entity' if verb == 'is' else 'entities'} ({relations_text}); literals can be "
            "attributes of their things, or left out."
        )
    if source.literals == LITERALS_LEFT_OUT:
        return f"{verb} left out: {relations_text}."
    if source.attributes.is_wanted:
        return f"{verb} part of the descriptions of things: {relations_text}."
    return f"{verb} left out of a file this large."


def check_literals(literals: str) -> None:
    """Raise BadInput for a value that is not in `LITERAL_USES`."""
    if literals not in LITERAL_USES:
        raise BadInput(
            f"Literals are {', '.join(LITERAL_USES)}; not “{literals}”."
            f"{suggest_name(literals, LITERAL_USES)}"
        )


class _LiteralAttributes:
    """Literals by resource, from which nodes get their types and descriptions."""

    def __init__(self, language: str) -> None:
        self._language = language
        # Resource -> predicate -> best language rank and the texts of that language.
        self._texts: dict[Any, dict[str, tuple[int, set[str]]]] = {}
        self.nodes: set[Any] = set()  # resources that are ends of triples

    def add(self, statement: Any) -> None:
        """Store the literal of a statement.

        It is not stored if there is a text in a better language.
        """
        literal = statement.object
        iri = statement.predicate.value
        by_iri = self._texts.setdefault(statement.subject, {})
        text = " ".join(literal.value.split())
        rank = _language_rank(literal.language, self._language)
        best, texts = by_iri.get(iri, (rank, set[str]()))
        if text and rank <= best:
            by_iri[iri] = rank, (texts | {text} if rank == best else {text})

    def pass_to(self, source: TripleSource, names: _TermNames) -> None:
        """Pass the attributes of nodes to the source.

        The description of a node begins with the literal of the preferred relation in
        `DESCRIPTION_IRIS`. Every other relation follows with its values.
        """
        for resource, by_iri in self._texts.items():
            if resource not in self.nodes:
                continue
            values = {iri: ", ".join(sorted(texts)) for iri, (_, texts) in by_iri.items()}
            types = [values[iri] for iri in TYPE_IRIS if iri in values]
            parts = [values[iri] for iri in DESCRIPTION_IRIS if iri in values][:1]
            other_iris = sorted(iri for iri in values if iri not in (*TYPE_IRIS, *DESCRIPTION_IRIS))
            parts += [f"{names.relation_of(iri)}: {values[iri]}" for iri in other_iris]
            source.attributes.add_node(
                names.node(resource), {"type": ", ".join(types), "description": "; ".join(parts)}
            )


def labels_of(source: TripleSource) -> dict[str, str]:
    """Return the labels of a source's IRIs.

    They come from the file of a source and its file of labels. The result is empty if resources are
    not named by labels, see `uses_labels`.
    """
    from pyoxigraph import Literal, NamedNode

    if not uses_labels(source):
        return {}
    # IRI -> rank of the relation, rank of the language, and text of the best label so far.
    ranked_labels: dict[str, tuple[int, int, str]] = {}
    tags = Counter[str]()
    files = [(source.path, source.format)]
    if source.labels:
        files.append((source.labels, syntax_of(source.labels)))
    for path, syntax in files:
        if not has_labels(source, path, syntax):
            continue
        for statement in _statements(source, path, syntax):
            subject, label = statement.subject, statement.object
            if (
                statement.predicate.value not in LABEL_IRIS
                or not isinstance(subject, NamedNode)
                or not isinstance(label, Literal)
            ):
                continue
            text = " ".join(label.value.split())
            tags[label.language or ""] += 1
            rank = (
                LABEL_IRIS.index(statement.predicate.value),
                _language_rank(label.language, source.language),
                text,
            )
            if text and rank < ranked_labels.get(subject.value, (len(LABEL_IRIS), 0, "")):
                ranked_labels[subject.value] = rank
    if ranked_labels:
        source.tally.note(
            f"{len(ranked_labels):,} things and relations are called by their labels"
            f"{_languages_phrase(source.language, tags)}."
        )
    return {iri: text for iri, (_, _, text) in ranked_labels.items()}


def uses_labels(source: TripleSource) -> bool:
    """Return whether resources of an RDF file are named by labels.

    Labels are used if the file has labels or there is a file of labels, unless the language is
    “none”. For N-Triples with more than 128 MB of text, a language or a file of labels must be
    chosen; otherwise labels are not searched, and the tally notes this.
    """
    if source.language == NO_LABELS:
        return False
    has_choice = bool(source.language) or source.labels is not None
    is_searchable = has_choice or source.format != "ntriples"
    if not is_searchable and text_bytes(source.path) > MAX_LABEL_SEARCH_BYTES:
        source.tally.note(
            "Labels of this large file are not looked for; things are called by their identifiers. "
            "A language asks for labels."
        )
        return False
    return source.labels is not None or has_labels(source, source.path, source.format)


def text_bytes(path: FilePath) -> int:
    """Estimate the number of bytes of text in a file after unpacking."""
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    return path.stat().st_size * (UNPACKED_RATIO if path.suffix.lower() in PACKED_SUFFIXES else 1)


def has_labels(source: TripleSource, path: FilePath, syntax: str) -> bool:
    """Return whether a file may have labels.

    It may if a relation of labels, or the namespace of one, occurs in it.
    """
    words = [label.encode() for label in LABEL_IRIS]
    words += [] if syntax == "ntriples" else [b"rdf-schema#", b"skos/core#", b"schema.org"]
    with _open_file(source, path, syntax) as stream:
        carry = b""
        while data := stream.read(SCAN_BYTES):
            if any(word in carry + data for word in words):
                return True
            carry = data[-64:]  # a word, which is shorter, may be divided between two reads
    return False


def is_label_file(source: TripleSource) -> bool:
    """Return whether an RDF file holds only labels, judging by its first statements."""
    if bare_suffix(source.path) not in SYNTAX_BY_SUFFIX:
        return False
    try:
        first = list(
            islice(_statements(source, source.path, syntax_of(source.path)), FIRST_STATEMENTS)
        )
    except BadInput:
        return False
    return bool(first) and all(statement.predicate.value in LABEL_IRIS for statement in first)


def syntax_of(path: FilePath) -> str:
    """Return the syntax of an RDF file by its suffix.

    Raises
    ------
    BadInput
        For another suffix.
    """
    suffix = bare_suffix(path)
    if suffix not in SYNTAX_BY_SUFFIX:
        hint = suggest_name(suffix, SYNTAX_BY_SUFFIX)
        raise BadInput(f"{path.name} should be an RDF file: {', '.join(SYNTAX_BY_SUFFIX)}.{hint}")
    return SYNTAX_BY_SUFFIX[suffix]


def languages_of_labels(preferred: str) -> tuple[str, ...]:
    """Return the languages of labels in order of preference, the `preferred` one first.

    An empty `preferred` stands for English. Labels without a language come after these, then all
    others.
    """
    return tuple(dict.fromkeys((preferred or "en", ALL_LANGUAGES, "en")))


def _language_rank(language: str | None, preferred: str) -> int:
    """Rank a label's language by preference, 0 for the best.

    The order is: the preferred language, its variants (en-GB for en), “mul”, English, no language,
    any other.
    """
    tag = (language or "").lower()
    order = languages_of_labels(preferred.lower())
    if tag == order[0]:
        return 0
    bases = [*(one.partition("-")[0] for one in order), ""]
    base = tag.partition("-")[0]
    return 1 + (bases.index(base) if base in bases else len(bases))


def _languages_phrase(preferred: str, counts: Counter[str]) -> str:
    """Return a phrase on the languages of the labels.

    The phrase is empty if there is only one language.
    """
    tags = [language for language, _ in counts.most_common() if language]
    if len(tags) < 2:
        return ""
    return (
        f", {preferred or 'en'} first, of {len(tags):,} languages ({', '.join(tags[:6])}"
        f"{' …' if len(tags) > 6 else ''})"
    )


def _statements(source: TripleSource, path: FilePath, syntax: str) -> Iterator[Any]:
    """Yield the statements of a file.

    Raises
    ------
    BadInput
        If the text does not have the syntax, for triples about triples, and for XML entities that
        contain others.
    """
    from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

    terms = (NamedNode, BlankNode, Literal)
    with _open_file(source, path, syntax) as stream:
        if syntax == "rdfxml":
            _check_entities(source, path)
        text: Any = NestingGuard(
            LineLengthGuard(stream) if syntax in ("ntriples", "nquads") else stream
        )
        try:
            form = getattr(RdfFormat, PYOXIGRAPH_FORMATS[syntax])
            for statement in parse(text, format=form, base_iri=BASE_IRI):
                if not (
                    isinstance(statement.subject, terms) and isinstance(statement.object, terms)
                ):
                    raise BadInput(NESTED_TRIPLES_ERROR)
                source.line = stream.line
                yield statement
        except SyntaxError as error:
            line = f", line {error.lineno}" if error.lineno else ""
            raise BadInput(
                f"{path.name}{line}: not {_title(syntax)} ({ERROR_POSITION.sub('', error.msg)})."
            ) from None
        except ValueError as error:
            raise BadInput(f"{path.name}: not {_title(syntax)} ({error}).") from None


def _title(syntax: str) -> str:
    return {
        "ntriples": "N-Triples",
        "nquads": "N-Quads",
        "trig": "TriG",
        "rdfxml": "RDF/XML",
        "jsonld": "JSON-LD",
    }.get(syntax, syntax.title())


def _open_file(
    source: TripleSource, path: FilePath, syntax: str
) -> AbstractContextManager[UnpackedBytes]:
    """Open a file of the source as UTF-8.

    XML is opened as bytes, since it names its encoding itself.
    """
    opened_source = (
        source
        if path == source.path
        else replace(source, path=path, watch=source.watch.without_reports)
    )
    return opened_source.open_raw() if syntax == "rdfxml" else opened_source.open_text()


def _check_entities(source: TripleSource, path: FilePath) -> None:
    """Raise BadInput for XML entities that contain others or are defined elsewhere.

    Such entities could expand without limit. They are declared before the first element, which must
    begin in the first mebibyte. The patterns are in ASCII, since the parser does not read UTF-16.
    """
    with _open_file(source, path, "rdfxml") as stream:
        head = stream.read(SCAN_BYTES)
    prologue = XML_COMMENT.sub(b"", head)
    if len(head) == SCAN_BYTES and not XML_FIRST_ELEMENT.match(prologue):
        raise BadInput(
            f"{path.name}: no element begins in its first {SCAN_BYTES >> 20} MiB, so that its XML "
            "entities cannot be checked."
        )
    if NESTED_XML_ENTITY.search(head):
        raise BadInput(
            f"{path.name}: it declares XML entities within entities, or from elsewhere; those are "
            "not read."
        )


class _TermNames:
    """Names of the terms of one file.

    Names as nodes are given by `node`, names as relations by `relation`.
    """

    def __init__(self, labels: dict[str, str], syntax: str) -> None:
        self._nodes = Namer()
        self._relations = Namer()
        self._labels = labels
        self._blank: dict[str, str] = {}  # name by the parser -> name by first appearance
        # In syntaxes with unnamed blank nodes, the parser assigns random names.
        self._numbers_blanks = syntax not in ("ntriples", "nquads")
        # Each file has caches of its own, which end with it.
        self.node = lru_cache(CACHED_TERM_NAMES)(self._node_name)
        self.relation = lru_cache(CACHED_TERM_NAMES)(self._relation_name)

    def _node_name(self, term: Any) -> str:
        return self._nodes.name(str(term), self._candidates(term))

    def _relation_name(self, term: Any) -> str:
        return self._relations.name(str(term), self._candidates(term))

    def relation_of(self, iri: str) -> str:
        """Return the preferred name of a relation, which need not occur in a triple."""
        from pyoxigraph import NamedNode

        return self._candidates(NamedNode(iri))[0]

    def _candidates(self, term: Any) -> tuple[str, ...]:
        """Return the possible names of a term, the most readable one first."""
        from pyoxigraph import BlankNode, NamedNode

        if isinstance(term, BlankNode) and self._numbers_blanks:
            return (self._blank.setdefault(term.value, f"_:b{len(self._blank)}"),)
        iri = term.value if isinstance(term, NamedNode) else ""
        label = self._labels.get(iri) if iri else None
        if label is None and (match := WIKIDATA_PROPERTY.fullmatch(iri)):
            label = self._labels.get(f"http://www.wikidata.org/entity/{match[1]}")
        if label is None:
            return name_candidates(term)
        return label, f"{label} ({local_name(iri)})", f"{label} ({iri})", f"<{iri}>"
