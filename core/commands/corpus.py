"""Command `corpus`: add, show and remove documents, and write questions on them.

Its other parts are in the modules `corpus_build`, `corpus_mend`, `corpus_open`, `corpus_quality`
and `corpus_advise`.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from core.builds import build_for, open_graph
from core.builds.shipped_data import shipped_builds
from core.commands import corpus_advise, corpus_build, corpus_mend, corpus_open, corpus_quality
from core.commands.questions import print_question_import
from core.commands.terminal import (
    ENCODING_HELP,
    EXIT_OK,
    TerminalBar,
    add_switch,
    add_text,
    finish_job,
    local_path,
    print_json,
    warn,
    whole_number,
)
from core.corpus import (
    Corpus,
    corpora,
    import_documents,
    import_question_set,
    open_corpus,
    remove_corpus,
)
from core.corpus.file_content import FILES_FORM
from core.corpus.published_corpora import FORM_READERS
from core.corpus.readers.table import parse_column_roles
from core.errors import BadInput, shorten, suggest_name
from core.evaluation.exchange.beir import write_beir
from core.evaluation.questions.abstract_questions import (
    QUESTION_WRITER_ROLE,
    AbstractQuestionWriter,
    Recipe,
)
from core.evaluation.questions.linked_questions import LINKED_ID_PREFIX, LinkedQuestionWriter
from core.evaluation.questions.question_sets import default_set_name, start_writing
from core.languages import known_code

AUTO_LANGUAGE = "auto"  # value of the option for the detected language
MAX_PRINTED_QUESTIONS = 5  # written questions that are printed
MAX_PRINTED_DOCUMENTS = 10  # documents, and notes on files, that are printed


def add_command(subparsers) -> None:
    """Add the command and its parts with their options."""
    corpus = subparsers.add_parser("corpus")
    parts = corpus.add_subparsers(required=True, metavar="WHAT")

    add = parts.add_parser(
        "add",
        help="make a corpus of documents, or bring more into one of your own; changed ones take "
        "their place",
    )
    add.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="txt, md, html, pdf, docx, xlsx, pptx, epub, eml, ipynb, csv, json, parquet; a "
        "folder or a zip of them; a published set as it is; hf:NAME or irds:ID",
    )
    add.add_argument(
        "--name", required=True, metavar="NAME", help="the corpus: small letters, digits and dashes"
    )
    add.add_argument("--title", default="", help="what the choosers show (default: the name)")
    add_text(
        add,
        "--columns",
        "TEXT=COLUMN,...",
        "the columns of tables: text=Body,title=Subject,id=No; text=data.body within others; "
        "text=2,header=no",
    )
    add.add_argument(
        "--format",
        default=FILES_FORM,
        help=f"{FILES_FORM}, or for one that is published: {', '.join(FORM_READERS)}",
    )
    add_text(add, "--encoding", "NAME", ENCODING_HELP)
    add_switch(
        add,
        "--replace",
        "remove documents that the same files, folders or zips had and no longer have",
    )
    add_text(
        add,
        "--language",
        "CODE",
        "the language of the documents, as de or German (default: found)",
    )
    add_text(
        add,
        "--questions",
        "FILE",
        "their questions, as `questions` takes them: question, answers, gold",
    )
    add.set_defaults(run=_add)

    list_parser = parts.add_parser("list", help="the corpora that ship and those of your own")
    list_parser.set_defaults(run=_list)

    show_parser = parts.add_parser("show", help="what a corpus holds")
    show_parser.add_argument("name", metavar="NAME")
    add_switch(show_parser, "--json", "print one JSON object")
    show_parser.set_defaults(run=_show)

    language = parts.add_parser(
        "language", help="the language of a corpus's documents, which decides how they are read"
    )
    language.add_argument("name", metavar="NAME")
    language.add_argument(
        "language",
        nargs="?",
        metavar="CODE",
        help=f"as de or German; {AUTO_LANGUAGE}: as it is found (default: only say it)",
    )
    language.set_defaults(run=_language)

    export_parser = parts.add_parser(
        "export",
        help="write a corpus with its questions as BEIR has it: corpus.jsonl, queries.jsonl, "
        "qrels/",
    )
    export_parser.add_argument("name", metavar="NAME")
    export_parser.add_argument("folder", metavar="FOLDER")
    export_parser.set_defaults(run=_export)

    remove_parser = parts.add_parser(
        "remove", help="take documents out of a corpus of your own, or remove it as a whole"
    )
    remove_parser.add_argument("name", metavar="NAME")
    remove_parser.add_argument(
        "documents", nargs="*", metavar="DOCUMENT", help="ids of documents, as show gives them"
    )
    add_switch(remove_parser, "--all", "remove the corpus with all that was built of it")
    remove_parser.set_defaults(run=_remove)
    corpus_open.add_part(parts)
    corpus_build.add_parts(parts)
    corpus_advise.add_parts(parts)
    corpus_mend.add_part(parts)
    corpus_quality.add_part(parts)
    _add_write_questions(parts)


def _add(options) -> int:
    if options.questions and not options.files:
        print_question_import(
            import_question_set(options.name, local_path(options.questions), options.title)
        )
        return EXIT_OK
    columns = parse_column_roles(options.columns)
    code = known_code(options.language) if options.language else ""
    files, questions = [local_path(file) for file in options.files], local_path(options.questions)
    with TerminalBar("Reading documents") as watch:
        result = import_documents(
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
    corpus = result.corpus.with_language(code) if code else result.corpus
    print(
        f"{_count_documents(result.n_added)} added to {corpus.name}, {result.n_changed:,} changed, "
        f"{result.n_unchanged:,} there already"
    )
    _print_corpus(corpus)
    warn(result.notes)
    if result.missing:
        warn(
            [f"{result.missing_sentence()} Give --replace to remove what the files no longer have."]
        )
    return EXIT_OK


def _list(options) -> int:
    for name, corpus in corpora().items():
        origin = "comes with Hopscope"
        if isinstance(corpus, Corpus):
            origin = _count_documents(corpus.n_documents)
        print(f"{name:24} {corpus.title}  ({origin})")
    return EXIT_OK


def _show(options) -> int:
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
    if options.json:
        print_json(_corpus_dict(corpus))
        return EXIT_OK
    for text in filter(None, (corpus.title, corpus.source, corpus.licence)):
        print(text)
    _print_corpus(corpus)
    for sentence in dict.fromkeys(build.words() for build in shipped_builds(corpus)):
        print(f"Comes with it, as graphs: {sentence}")
    for row in range(min(MAX_PRINTED_DOCUMENTS, len(corpus))):
        document = corpus.document_at(row)
        title = f"  {shorten(document.title, 60)}" if document.title != document.id else ""
        print(f"  {document.id}{title}  ({len(document.text):,} characters)")
    notes_by_source = _notes_by_source(corpus)
    if notes_by_source:
        n_files = len(notes_by_source)
        files = "a file was" if n_files == 1 else f"{n_files:,} of their files were"
        print(f"Left out or guessed as {files} read:")
    for sentence in list(chain.from_iterable(notes_by_source.values()))[:MAX_PRINTED_DOCUMENTS]:
        print(f"  {sentence}")
    if len(corpus) > MAX_PRINTED_DOCUMENTS:
        print(f"  and {len(corpus) - MAX_PRINTED_DOCUMENTS:,} more")
    return EXIT_OK


def _notes_by_source(corpus: Corpus) -> dict[str, list[str]]:
    """Return the notes of the import by file or folder, if it has any."""
    return {source: list(origin.notes) for source, origin in corpus.origins.items() if origin.notes}


def _corpus_dict(corpus: Corpus) -> dict[str, Any]:
    """Return the description of a corpus as plain data, with all documents and notes."""
    documents = [corpus.document_at(row) for row in range(len(corpus))]
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
        "links": len(corpus.links_table) if corpus.links_table is not None else 0,
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
        "graphs": {build.build: build.words() for build in shipped_builds(corpus)},
        "notes": _notes_by_source(corpus),
    }


def _language(options) -> int:
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
        if options.language:
            corpus = corpus.with_language(
                "" if options.language == AUTO_LANGUAGE else known_code(options.language)
            )
    print(f"Language: {corpus.language.words()}")
    return EXIT_OK


def _export(options) -> int:
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
    for name, count in write_beir(corpus, Path(options.folder)).items():
        print(f"{Path(options.folder) / name}: {count:,} row{'s' * (count != 1)}")
    return EXIT_OK


def _remove(options) -> int:
    if options.all == bool(options.documents):
        raise BadInput("Name the documents to remove, or give --all for the whole corpus.")
    if options.all:
        remove_corpus(options.name)
        print(f"{options.name} is removed")
    else:
        corpus = open_corpus(options.name).remove(options.documents)
        print(
            f"{_count_documents(len(set(options.documents)))} removed, {corpus.n_documents:,} left "
            f"in {corpus.name}"
        )
    return EXIT_OK


def _print_corpus(corpus: Corpus) -> None:
    """Print the size, the language and the question sets of a corpus."""
    linked = f", {len(corpus.links_table):,} links" if corpus.links_table is not None else ""
    print(f"{_count_documents(corpus.n_documents)}, {corpus.characters:,} characters{linked}")
    print(f"Language: {corpus.language.words()}")
    for name, title in corpus.sets.items():
        titled = f", {title}" if title != name else ""
        print(f"{name}: {len(corpus.questions(name)):,} questions{titled}")


def _count_documents(documents: int) -> str:
    return f"{documents:,} document{'s' * (documents != 1)}"


def _add_write_questions(parts) -> None:
    """Add the part `write-questions` and its options."""
    defaults = Recipe()
    write_parser = parts.add_parser(
        "write-questions",
        help="let a language model write questions that ask for an overview of a corpus, or to "
        "linked passages",
        description="Five users, five tasks of each, five questions to each task, from what the "
        "corpus is about; or with --linked questions to two linked passages each, which are their "
        "evidence. Saved as a question set.",
        epilog="Every reply is saved: the same command continues where it stopped, and asks "
        "nobody where all is written.",
    )
    write_parser.add_argument("name", metavar="NAME", help="the corpus")
    write_parser.add_argument("--users", type=whole_number(1), default=defaults.users, metavar="N")
    write_parser.add_argument(
        "--tasks", type=whole_number(1), default=defaults.tasks, metavar="N", help="of each user"
    )
    write_parser.add_argument(
        "--questions",
        type=whole_number(1),
        default=defaults.questions,
        metavar="N",
        help="to each task",
    )
    add_text(
        write_parser,
        "--about",
        "TEXT",
        "what the corpus is about (default: summed up from its passages)",
    )
    write_parser.add_argument(
        "--linked",
        type=whole_number(1),
        metavar="N",
        help="N questions to two linked passages of a corpus graph each, instead",
    )
    write_parser.add_argument(
        "--graph",
        default="links",
        metavar="BUILD",
        help="the corpus graph whose links are taken (default: links)",
    )
    add_text(
        write_parser,
        "--set",
        "NAME",
        "the set's name (default: that of the corpus with -abstract or -linked)",
    )
    write_parser.add_argument(
        "--model",
        default=QUESTION_WRITER_ROLE,
        metavar="NAME",
        help="the role or name of the model that writes (default: answer)",
    )
    write_parser.set_defaults(run=_write_questions)


def _write_questions(options) -> int:
    """Let a language model write questions, and save them as a set.

    Some are printed. Returns the exit code.
    """
    if options.name not in corpora():
        raise BadInput(
            f"There is no corpus “{options.name}”.{suggest_name(options.name, corpora())}"
        )
    recipe, engine = Recipe(options.users, options.tasks, options.questions), options.engine()
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
    writer: AbstractQuestionWriter | LinkedQuestionWriter
    if options.linked is None:
        set_name = default_set_name(corpus.name)
        writer = AbstractQuestionWriter(corpus, engine.models, recipe, options.about, options.model)
    else:
        set_name = f"{corpus.name}-{LINKED_ID_PREFIX}"
        with TerminalBar("Opening the graph"):
            graph = open_graph(corpus, build_for(corpus, options.graph))
        writer = LinkedQuestionWriter(corpus, graph, engine.models, options.linked, options.model)
    set_name = options.set or set_name
    written_set = finish_job(start_writing(engine, writer, set_name))
    warn(written_set.notes)
    if written_set.about:
        print(f"About: {written_set.about}")
    for question in written_set.questions[:MAX_PRINTED_QUESTIONS]:
        print(f"  {question.text}")
    if len(written_set.questions) > MAX_PRINTED_QUESTIONS:
        print(f"  and {len(written_set.questions) - MAX_PRINTED_QUESTIONS:,} more")
    print(f"{len(written_set.questions):,} questions of {corpus.name} are saved as {set_name}")
    return EXIT_OK
