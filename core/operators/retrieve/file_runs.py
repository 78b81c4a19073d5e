"""Documents, paths and answers that are read from a finished run.

They come from a file instead of being computed. So the results of another program can be compared
with Hopscope's methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from core.environment import Environment
from core.errors import BadInput, BadParameter, shorten
from core.operators.base import Context, Operator, Recorder
from core.operators.retrieve.own_retriever import is_text_graph, with_documents, with_paths
from core.parameters import param
from core.retrievers.reply import DocumentsReply, RetrieverReply
from core.retrievers.runs.run_rows import RunRow
from core.retrievers.runs.saved_runs import FileRun, find_run, runs_by_name
from core.types import State

RUN_HELP = "The name of a finished run that was brought from a file (Evaluate)."


def _run_names() -> tuple[str, ...]:
    return tuple(runs_by_name())


class FileOperator(Operator):
    """Base of operators that read a finished run.

    The file of the run is part of their cache keys.
    """

    run: str

    def stamp(self, graph: Any, environment: Environment) -> str:
        try:
            return find_run(self.run).digest
        except BadParameter:  # reported when the operator runs
            return ""


@dataclass(frozen=True, repr=False)
class FileDocuments(FileOperator):
    """The passages and the answer that a finished run has for the question.

    Documents are found as in `OwnDocuments`. A note counts those that are not in the corpus. The
    step's seconds are those of the look-up, as nothing is computed. BadInput is raised for a
    question that the run does not have.

    >>> from core.retrievers.runs.saved_runs import save_run_file
    >>> from core.io.home import home_folder
    >>> from core.sources import CorpusSource
    >>> row = '{"question": "Who was lame?", "contexts": ["The turkey"], "answer": "Tim"}'
    >>> _ = (home_folder() / "mine.jsonl").write_text(row)
    >>> name = save_run_file(home_folder() / "mine.jsonl", CorpusSource("story")).name
    >>> state = retrieve(f"FileDocuments(run='{name}')", graph=story, question="Who was lame?")
    >>> story.columns.chunks.texts("id", state.chunks.items), state.answer
    (['turkey'], 'Tim')
    """

    stage = "retrieve"
    title = "documents of a finished run"
    plain = "takes what the finished run “{run}” found"
    writes = ("chunks",)
    on_documents = True

    run: str = param("", "Finished run", RUN_HELP, known=_run_names)
    keep: int = param(100, "Documents", "How many stay, the best first.", low=1, high=1000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        run = find_run(self.run)
        if not is_text_graph(ctx.graph):
            raise BadInput(
                f"The finished run “{run.title}” has documents, and “{ctx.graph.name}” is a "
                "graph of triples; ask its corpus."
            )
        row = _row_of_question(run, state, ctx)
        ctx.watch.report("Finding the documents in the corpus")
        reply = DocumentsReply(row.documents, row.answer, row.prompt)
        return with_documents(state, ctx.graph, reply, self.keep, recorder)

    def words(self) -> str:
        return f"finished run “{self.run}”" if self.run else self.title


@dataclass(frozen=True, repr=False)
class FilePaths(FileOperator):
    """The reasoning paths that a finished run has for the question, with their subgraph.

    Paths are found in the graph by their names, as in `OwnRetriever`. A note counts those that are
    not in the graph. Nothing is computed.

    >>> from core.retrievers.runs.saved_runs import save_run_file
    >>> from core.io.home import home_folder
    >>> from core.sources import GraphSource
    >>> triples = '[["A", "r1", "C"], ["A", "r1", "Nobody"]]'
    >>> row = f'{{"question": "Who is near A?", "prediction": "C", "triples": {triples}}}'
    >>> _ = (home_folder() / "mine.jsonl").write_text(row)
    >>> name = save_run_file(home_folder() / "mine.jsonl", GraphSource("toy")).name
    >>> answers(f"FilePaths(run='{name}')", "A", question="Who is near A?")
    ['A -> r1 -> C']
    """

    stage = "retrieve"
    title = "paths of a finished run"
    plain = "takes the paths that the finished run “{run}” found"
    reads, writes = ("seeds",), ("subgraph", "paths")

    run: str = param("", "Finished run", RUN_HELP, known=_run_names)
    keep: int = param(100, "Keep", "How many paths stay, the best first.", low=1, high=1000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        row = _row_of_question(find_run(self.run), state, ctx)
        if not row.paths:
            recorder.notes.append("The run has no paths for this question.")
        ctx.watch.report("Finding the paths in the graph")
        return with_paths(state, RetrieverReply(row.paths), self.keep, ctx, recorder)

    def words(self) -> str:
        return f"paths of the finished run “{self.run}”" if self.run else self.title


@dataclass(frozen=True, repr=False)
class FileAnswer(FileOperator):
    """The answer that a finished run with answers alone has for the question.

    Nothing is computed.

    >>> from core.retrievers.runs.saved_runs import save_run_file
    >>> from core.io.home import home_folder
    >>> from core.sources import GraphSource
    >>> row = '{"question": "Who directed One?", "prediction": "Ann"}'
    >>> _ = (home_folder() / "mine.jsonl").write_text(row)
    >>> name = save_run_file(home_folder() / "mine.jsonl", GraphSource("toy")).name
    >>> retrieve(f"FileAnswer(run='{name}')", "A", question="Who directed One?").answer
    'Ann'
    """

    stage = "generate"
    title = "answer of a finished run"
    plain = "answers as the finished run “{run}” did"
    writes = ("answer",)
    role: ClassVar[None] = None  # no language model is asked

    run: str = param("", "Finished run", RUN_HELP, known=_run_names)

    @property
    def on_documents(self) -> bool:  # type: ignore[override]
        file_run = runs_by_name().get(self.run)
        return file_run is not None and file_run.source.is_corpus

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        row = _row_of_question(find_run(self.run), state, ctx)
        if row.answer is None:
            recorder.notes.append("The run has no answer to this question.")
        return state.replace(answer=row.answer, own_answer=row.answer is not None)

    def words(self) -> str:
        return f"answers of the finished run “{self.run}”" if self.run else self.title


def _row_of_question(file_run: FileRun, state: State, ctx: Context) -> RunRow:
    """Return the run's row of the question.

    Raises BadInput if the run is on another source or does not have the question.
    """
    if file_run.source.corpus_name not in ("", ctx.graph.name):
        raise BadInput(
            f"The finished run “{file_run.title}” is on “{file_run.source_name}”, and this is "
            f"“{ctx.graph.name}”."
        )
    row = file_run.find_row(state.question)
    if row is None:
        raise BadInput(
            f"The finished run “{file_run.title}” does not have the question "
            f"“{shorten(state.question.text, 60)}”."
        )
    return row
