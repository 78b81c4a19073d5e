"""`corpus`: bring documents, see them, take them away."""

from __future__ import annotations

from core.builds.shipped import shipped
from core.commands import corpus_build, corpus_questions
from core.commands.questions import print_brought
from core.commands.terminal import OK, bar, warn
from core.corpus import Corpus, bring, bring_questions, corpora, open_corpus, remove_corpus
from core.corpus.bringing import FILES
from core.corpus.published import FORMATS
from core.corpus.readers.table import columns_of
from core.errors import BadInput, shorten

SHOWN = 10  # documents that are named


def add(commands) -> None:
    """The command's grammar."""
    corpus = commands.add_parser("corpus", help="bring documents, see them, take them away")
    parts = corpus.add_subparsers(required=True, metavar="WHAT")

    into = parts.add_parser("add", help="make a corpus of documents, or bring more into one of your own; changed ones take their place")
    into.add_argument("files", nargs="*", metavar="FILE", help="txt, md, html, pdf, docx, csv, jsonl; a folder or a zip of them")
    into.add_argument("--name", required=True, metavar="NAME", help="the corpus: small letters, digits and dashes")
    into.add_argument("--title", default="", help="what the choosers show (default: the name)")
    into.add_argument("--columns", default="", metavar="TEXT=COLUMN,...", help="the columns of tables: text=Body,title=Subject,id=No")
    into.add_argument("--format", default=FILES, help=f"{FILES}, or for one that is published: {', '.join(FORMATS)}")
    into.add_argument("--questions", default="", metavar="FILE", help="their questions, as `questions` takes them: question, answers, gold")
    into.set_defaults(run=_add)

    listed = parts.add_parser("list", help="the corpora that ship and those of your own")
    listed.set_defaults(run=_list)

    shown = parts.add_parser("show", help="what a corpus holds")
    shown.add_argument("name", metavar="NAME")
    shown.set_defaults(run=_show)

    out = parts.add_parser("remove", help="take documents out of a corpus of your own, or remove it as a whole")
    out.add_argument("name", metavar="NAME")
    out.add_argument("documents", nargs="*", metavar="DOCUMENT", help="ids of documents, as show gives them")
    out.add_argument("--all", action="store_true", help="remove the corpus with all that was built of it")
    out.set_defaults(run=_remove)
    corpus_build.add_parts(parts)
    corpus_questions.add_parts(parts)


def _add(options) -> int:
    if options.questions and not options.files:
        print_brought(bring_questions(options.name, options.questions, options.title))
        return OK
    columns = columns_of(options.columns)
    with bar("Reading documents") as advanced:
        brought = bring(options.name, options.files, options.title, columns, options.format, options.questions, advanced)
    corpus = brought.corpus
    print(f"{_counted(brought.added)} added to {corpus.name}, {brought.changed:,} changed, {brought.known:,} there already")
    _tell(corpus)
    warn(brought.notes)
    return OK


def _list(options) -> int:
    for name, corpus in corpora().items():
        kind = f"{_counted(corpus.n_documents)}" if isinstance(corpus, Corpus) else "comes with Hopscope"
        print(f"{name:24} {corpus.title}  ({kind})")
    return OK


def _show(options) -> int:
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    for text in filter(None, (corpus.title, corpus.source, corpus.licence)):
        print(text)
    _tell(corpus)
    for told in dict.fromkeys(came.words() for came in shipped(corpus)):
        print(f"Comes with it, as graphs: {told}")
    for row in range(min(SHOWN, len(corpus))):
        document = corpus.at(row)
        title = f"  {shorten(document.title, 60)}" if document.title != document.id else ""
        print(f"  {document.id}{title}  ({len(document.text):,} characters)")
    if len(corpus) > SHOWN:
        print(f"  and {len(corpus) - SHOWN:,} more")
    return OK


def _remove(options) -> int:
    if options.all == bool(options.documents):
        raise BadInput("Name the documents to remove, or give --all for the whole corpus.")
    if options.all:
        remove_corpus(options.name)
        print(f"{options.name} is removed")
    else:
        corpus = open_corpus(options.name).remove(options.documents)
        print(f"{_counted(len(set(options.documents)))} removed, {corpus.n_documents:,} left in {corpus.name}")
    return OK


def _tell(corpus: Corpus) -> None:
    """Its size, and the question sets that it has."""
    linked = f", {len(corpus.linked):,} links" if corpus.linked is not None else ""
    print(f"{_counted(corpus.n_documents)}, {corpus.characters:,} characters{linked}")
    for name, title in corpus.sets.items():
        print(f"{name}: {len(corpus.questions(name)):,} questions{f', {title}' if title != name else ''}")


def _counted(documents: int) -> str:
    return f"{documents:,} document{'s' * (documents != 1)}"
