"""Command `corpus`: add documents, list and remove them, and build graphs of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.builds import build_for, open_graph
from core.builds.shipped import shipped
from core.commands import corpus_advise, corpus_build, corpus_mend, corpus_open, corpus_quality
from core.commands.questions import print_brought
from core.commands.terminal import ENCODING_HELP, OK, bar, file_of, finish, warn, whole
from core.corpus import Corpus, bring, bring_questions, corpora, open_corpus, remove_corpus
from core.corpus.found import FILES
from core.corpus.published import FORMATS
from core.corpus.readers.table import columns_of
from core.errors import BadInput, nearest, shorten
from core.evaluation.exchange.beir import write_beir
from core.evaluation.questions.keeping import start, usual_name
from core.evaluation.questions.linked import LINKED, LinkedWriting
from core.evaluation.questions.writing import ROLE, Recipe, Writing
from core.io.json_text import json_text
from core.languages import known_code

AUTO = "auto"  # as a language: the one that is detected
PRINTED = 5  # written questions that are printed
SHOWN = 10  # documents, and notes on files, that are printed


def add(commands) -> None:
    """Add the command and its parts with their options."""
    corpus = commands.add_parser("corpus", help="bring documents, see them, take them away")
    parts = corpus.add_subparsers(required=True, metavar="WHAT")

    into = parts.add_parser(
        "add",
        help="make a corpus of documents, or bring more into one of your own; changed ones take "
        "their place",
    )
    into.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="txt, md, html, pdf, docx, xlsx, pptx, epub, eml, ipynb, csv, json, parquet; a "
        "folder or a zip of them; a published set as it is; hf:NAME or irds:ID",
    )
    into.add_argument(
        "--name", required=True, metavar="NAME", help="the corpus: small letters, digits and dashes"
    )
    into.add_argument("--title", default="", help="what the choosers show (default: the name)")
    into.add_argument(
        "--columns",
        default="",
        metavar="TEXT=COLUMN,...",
        help="the columns of tables: text=Body,title=Subject,id=No; text=data.body within others; "
        "text=2,header=no",
    )
    into.add_argument(
        "--format",
        default=FILES,
        help=f"{FILES}, or for one that is published: {', '.join(FORMATS)}",
    )
    into.add_argument("--encoding", default="", metavar="NAME", help=ENCODING_HELP)
    into.add_argument(
        "--replace",
        action="store_true",
        help="remove documents that the same files, folders or zips had and no longer have",
    )
    into.add_argument(
        "--language",
        default="",
        metavar="CODE",
        help="the language of the documents, as de or German (default: found)",
    )
    into.add_argument(
        "--questions",
        default="",
        metavar="FILE",
        help="their questions, as `questions` takes them: question, answers, gold",
    )
    into.set_defaults(run=_add)

    listed = parts.add_parser("list", help="the corpora that ship and those of your own")
    listed.set_defaults(run=_list)

    shown = parts.add_parser("show", help="what a corpus holds")
    shown.add_argument("name", metavar="NAME")
    shown.add_argument("--json", action="store_true", help="print one JSON object")
    shown.set_defaults(run=_show)

    language = parts.add_parser(
        "language", help="the language of a corpus's documents, which decides how they are read"
    )
    language.add_argument("name", metavar="NAME")
    language.add_argument(
        "language",
        nargs="?",
        metavar="CODE",
        help=f"as de or German; {AUTO}: as it is found (default: only say it)",
    )
    language.set_defaults(run=_language)

    again = parts.add_parser(
        "export",
        help="write a corpus with its questions as BEIR has it: corpus.jsonl, queries.jsonl, "
        "qrels/",
    )
    again.add_argument("name", metavar="NAME")
    again.add_argument("folder", metavar="FOLDER")
    again.set_defaults(run=_export)

    out = parts.add_parser(
        "remove", help="take documents out of a corpus of your own, or remove it as a whole"
    )
    out.add_argument("name", metavar="NAME")
    out.add_argument(
        "documents", nargs="*", metavar="DOCUMENT", help="ids of documents, as show gives them"
    )
    out.add_argument(
        "--all", action="store_true", help="remove the corpus with all that was built of it"
    )
    out.set_defaults(run=_remove)
    corpus_open.add_part(parts)
    corpus_build.add_parts(parts)
    corpus_advise.add_parts(parts)
    corpus_mend.add_part(parts)
    corpus_quality.add_part(parts)
    _add_write_questions(parts)


def _add(options) -> int:
    if options.questions and not options.files:
        print_brought(bring_questions(options.name, file_of(options.questions), options.title))
        return OK
    columns, code = (
        columns_of(options.columns),
        known_code(options.language) if options.language else "",
    )
    files, questions = [file_of(file) for file in options.files], file_of(options.questions)
    with bar("Reading documents") as watch:
        brought = bring(
            options.name,
            files,
            options.title,
            columns,
            options.format,
            questions,
            watch,
            encoding=options.encoding,
            replace_files=options.replace,
        )
    corpus = brought.corpus.with_language(code) if code else brought.corpus
    print(
        f"{_counted(brought.added)} added to {corpus.name}, {brought.changed:,} changed, "
        f"{brought.known:,} there already"
    )
    _tell(corpus)
    warn(brought.notes)
    if brought.missing:
        warn([f"{brought.on_missing()} Give --replace to remove what the files no longer have."])
    return OK


def _list(options) -> int:
    for name, corpus in corpora().items():
        kind = "comes with Hopscope"
        if isinstance(corpus, Corpus):
            kind = f"{_counted(corpus.n_documents)}"
        print(f"{name:24} {corpus.title}  ({kind})")
    return OK


def _show(options) -> int:
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    if options.json:
        print(json_text(_shown(corpus), indent=2))
        return OK
    for text in filter(None, (corpus.title, corpus.source, corpus.licence)):
        print(text)
    _tell(corpus)
    for sentence in dict.fromkeys(came.words() for came in shipped(corpus)):
        print(f"Comes with it, as graphs: {sentence}")
    for row in range(min(SHOWN, len(corpus))):
        document = corpus.at(row)
        title = f"  {shorten(document.title, 60)}" if document.title != document.id else ""
        print(f"  {document.id}{title}  ({len(document.text):,} characters)")
    if odd := {source: origin.notes for source, origin in corpus.origins.items() if origin.notes}:
        print(
            f"Left out or guessed as {len(odd):,} of their files were read:"
            if len(odd) > 1
            else "Left out or guessed as a file was read:"
        )
        for sentence in [sentence for notes in odd.values() for sentence in notes][:SHOWN]:
            print(f"  {sentence}")
    if len(corpus) > SHOWN:
        print(f"  and {len(corpus) - SHOWN:,} more")
    return OK


def _shown(corpus: Corpus) -> dict[str, Any]:
    """Return the description of a corpus as plain data.

    It has everything that is printed, with all documents and all notes.
    """
    documents = [corpus.at(row) for row in range(len(corpus))]
    language = corpus.language
    return {
        "name": corpus.name,
        "title": corpus.title,
        "source": corpus.source,
        "licence": corpus.licence,
        "own": corpus.own,
        "documents": [
            {"id": one.id, "title": one.title, "characters": len(one.text)} for one in documents
        ],
        "characters": corpus.characters,
        "links": len(corpus.linked) if corpus.linked is not None else 0,
        "language": {
            "code": language.code,
            "name": language.name,
            "chosen": language.chosen,
            "shares": dict(language.shares),
        },
        "sets": {
            name: {"title": title, "questions": len(corpus.questions(name))}
            for name, title in corpus.sets.items()
        },
        "graphs": {came.build: came.words() for came in shipped(corpus)},
        "notes": {
            source: list(origin.notes) for source, origin in corpus.origins.items() if origin.notes
        },
    }


def _language(options) -> int:
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
        if options.language:
            corpus = corpus.with_language(
                "" if options.language == AUTO else known_code(options.language)
            )
    print(f"Language: {corpus.language.words()}")
    return OK


def _export(options) -> int:
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    for name, count in write_beir(corpus, Path(options.folder)).items():
        print(f"{Path(options.folder) / name}: {count:,} row{'s' * (count != 1)}")
    return OK


def _remove(options) -> int:
    if options.all == bool(options.documents):
        raise BadInput("Name the documents to remove, or give --all for the whole corpus.")
    if options.all:
        remove_corpus(options.name)
        print(f"{options.name} is removed")
    else:
        corpus = open_corpus(options.name).remove(options.documents)
        print(
            f"{_counted(len(set(options.documents)))} removed, {corpus.n_documents:,} left in "
            f"{corpus.name}"
        )
    return OK


def _tell(corpus: Corpus) -> None:
    """Print the size, the language and the question sets of a corpus."""
    linked = f", {len(corpus.linked):,} links" if corpus.linked is not None else ""
    print(f"{_counted(corpus.n_documents)}, {corpus.characters:,} characters{linked}")
    print(f"Language: {corpus.language.words()}")
    for name, title in corpus.sets.items():
        print(
            f"{name}: {len(corpus.questions(name)):,} "
            f"questions{f', {title}' if title != name else ''}"
        )


def _counted(documents: int) -> str:
    return f"{documents:,} document{'s' * (documents != 1)}"


def _add_write_questions(parts) -> None:
    """Add the part `write-questions` and its options."""
    usual = Recipe()
    written = parts.add_parser(
        "write-questions",
        help="let a language model write questions that ask for an overview of a corpus, or to "
        "linked passages",
        description="Five users, five tasks of each, five questions to each task, from what the "
        "corpus is about; or with --linked questions to two linked passages each, which are their "
        "gold. Saved as a question set.",
        epilog="Every reply is saved: the same command continues where it stopped, and asks "
        "nobody where all is written.",
    )
    written.add_argument("name", metavar="NAME", help="the corpus")
    written.add_argument("--users", type=whole(1), default=usual.users, metavar="N")
    written.add_argument(
        "--tasks", type=whole(1), default=usual.tasks, metavar="N", help="of each user"
    )
    written.add_argument(
        "--questions", type=whole(1), default=usual.questions, metavar="N", help="to each task"
    )
    written.add_argument(
        "--about",
        default="",
        metavar="TEXT",
        help="what the corpus is about (default: summed up from its passages)",
    )
    written.add_argument(
        "--linked",
        type=whole(1),
        metavar="N",
        help="N questions to two linked passages of a corpus graph each, instead",
    )
    written.add_argument(
        "--graph",
        default="links",
        metavar="BUILD",
        help="the corpus graph whose links are taken (default: links)",
    )
    written.add_argument(
        "--set",
        default="",
        metavar="NAME",
        help="the set's name (default: that of the corpus with -abstract or -linked)",
    )
    written.add_argument(
        "--model",
        default=ROLE,
        metavar="NAME",
        help="the role or name of the model that writes (default: answer)",
    )
    written.set_defaults(run=_write_questions)


def _write_questions(options) -> int:
    """Let a language model write questions, and save them as a set.

    Some are printed. Returns the exit code.
    """
    if options.name not in corpora():
        raise BadInput(f"There is no corpus “{options.name}”.{nearest(options.name, corpora())}")
    recipe, engine = Recipe(options.users, options.tasks, options.questions), options.engine()
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    set_name = options.set or (
        usual_name(corpus.name) if options.linked is None else f"{corpus.name}-{LINKED}"
    )
    writing: Writing | LinkedWriting = Writing(
        corpus, engine.models, recipe, options.about, options.model
    )
    if options.linked is not None:
        with bar("Opening the graph"):
            graph = open_graph(corpus, build_for(corpus, options.graph))
        writing = LinkedWriting(corpus, graph, engine.models, options.linked, options.model)
    written = finish(start(engine, writing, set_name))
    warn(written.notes)
    if written.about:
        print(f"About: {written.about}")
    for question in written.questions[:PRINTED]:
        print(f"  {question.text}")
    if len(written.questions) > PRINTED:
        print(f"  and {len(written.questions) - PRINTED:,} more")
    print(f"{len(written.questions):,} questions of {corpus.name} are saved as {set_name}")
    return OK
