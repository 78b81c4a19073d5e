"""Answer generation: a language model reads the paths and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.indexes.path_sentences import word_paths
from core.operators.answer_length import answer_length
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.parameters import param
from core.prompts import OWN_SOURCE, load_prompts, own_prompt, with_examples
from core.types import Prompt, Question, State, WrittenReport

# by prompt, the fields of the state that it shows
PROMPT_READS = {name: tuple(prompt["reads"]) for name, prompt in load_prompts("answer").items()}
ANSWER_PROMPTS = tuple(PROMPT_READS)
WALK_PROMPTS = ("walks", "walk-and-retrieve")  # prompts that show paths as sentences
PATH_PLACES = ("question", "paths", "reports")  # placeholders of a user's own prompt
ANSWER_PROMPT_HELP = (
    "What the model is shown and how it is asked: “lego-graphrag” and “walk-and-retrieve” as "
    "these papers print it, the others in a way of our own."
)
SHOTS_HELP = "0 is zero-shot, 1 one-shot, more few-shot. A template of your own shows none."
PATH_TEMPLATE_HELP = (
    "A prompt of your own in the place of that one: a text with {question}, and {paths} or "
    "{reports} where they belong. What comes before a line --- is the system message."
)
# mark before each answer of a prompt that asks for one answer a line
ANSWER_MARK_PATTERN = re.compile(r"^\s*ans(?:wer)?\s*:\s*", re.IGNORECASE)
NON_LATIN_PATTERN = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
PROMPT_CHARACTERS_PER_TOKEN = 3.5  # for an estimate if no model is asked


@dataclass(frozen=True, repr=False)
class Answer(Operator):
    """The answer of a language model that is shown the first `paths` paths.

    LEGO-GraphRAG's generation, at temperature 0: zero-shot, or with one or a few solved examples
    before the question. If the paths do not fit into the model's context, the last ones are left
    out, and the trace says how many. If no path was found, the prompt says so.

    Prompts: "paths-and-reports" shows community reports before the paths (LEGO-GraphRAG's GRAG-M).
    "walks" shows the paths as sentences joined by semicolons, and gives the model a sentence to
    reply if it does not know the answer (Walk&Retrieve, Fig. 2b). "question-or-decline" has that
    sentence and no paths. "triples" shows the triples of each path and asks for one answer a line
    (SubgraphRAG). "rewritten" shows the text that a language model made of the paths
    (Retrieve-Rewrite-Answer). "question-in-words" and "paths-in-words" ask for a long answer to an
    abstract question; the others always ask for names.

    "lego-graphrag" and "walk-and-retrieve" have the structure of the prompts that LEGO-GraphRAG
    (technical report, B.13; with examples v1, A.2) and Walk&Retrieve (Fig. 2b) print, in the words
    of this project. A `template` is a user's own prompt with the placeholders {question}, {paths}
    and {reports}. Its paths are written as in `prompt`.

    >>> state = retrieve(
    ...     "EgoNetwork() >> ShortestPaths(direction='out') >> Answer(paths=2)",
    ...     "A",
    ...     models=says("B, C"),
    ... )
    >>> state.answer, state.prompt.paths
    ('B, C', 2)
    """

    stage = "generate"
    title = "answer"
    writes = ("prompt", "answer")

    prompt: str = param("reasoning-paths", "Prompt", ANSWER_PROMPT_HELP, choices=ANSWER_PROMPTS)
    paths: int = param(
        32, "Paths in the prompt", "At most so many paths, the best first.", low=0, high=10_000
    )
    shots: int = param(0, "Solved examples", SHOTS_HELP, low=0, high=3)
    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )
    template: str = param("", "Own prompt", PATH_TEMPLATE_HELP, lines=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template:
            own_prompt(self.template, PATH_PLACES)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.template:
            return tuple(name for name in PATH_PLACES[1:] if f"{{{name}}}" in self.template)
        return PROMPT_READS[self.prompt]

    @property
    def _prompt_row(self) -> dict[str, Any]:
        """The prompt, from the table of prompts or from the template."""
        row = load_prompts("answer")[self.prompt]
        if self.template:
            return own_prompt(self.template, PATH_PLACES) | {"between": row.get("between", "\n")}
        return row

    @property
    def _source(self) -> str:
        """The paper that the prompt follows, or a remark on a user's own prompt."""
        if self.template:
            return OWN_SOURCE
        paper = load_prompts("answer")[self.prompt].get("source", "")
        return f"after {paper}" if paper else ""

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        texts = self._texts(ctx.graph, state) if state.paths and "paths" in self.reads else []
        reports = (state.reports or ()) if "reports" in self.reads else ()

        def make_messages(count: int) -> tuple[dict[str, str], ...]:
            return self._messages(state.question, texts[:count], reports)

        n_texts = len(texts)
        if not ctx.answering:  # only the prompt is written; no model's context limits it
            messages = make_messages(n_texts)
            prompt = Prompt(messages, n_texts, reports=len(reports), source=self._source)
            return state.replace(prompt=prompt)
        ctx.watch.report(f"Waiting for {ctx.models.title(self.role)}")
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        overflow_words = (
            "question and the community reports alone need" if reports else "question alone needs"
        )
        shown_messages, count, tokens = fit_prompt(
            chat, make_messages, n_texts, reply_tokens, alone=overflow_words
        )
        if count < n_texts:
            recorder.notes.append(
                f"Only {count} of {n_texts} paths fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        messages = tuple(dict(message) for message in shown_messages)
        reply = request_reply(chat, messages, ctx, recorder, reply_tokens, "answer")
        tokens = reply.tokens_in or tokens
        prompt = Prompt(messages, count, tokens, len(reports), source=self._source)
        answer = reply.text.strip()
        if self.prompt == "triples" and not self.template:
            answer = strip_answer_marks(reply.text)
        return state.replace(prompt=prompt, answer=answer)

    def _texts(self, graph, state: State) -> list[str]:
        """Return the first `paths` paths as the prompt shows them.

        A prompt for walks shows the sentences of a language model, if it put the walks into words.
        """
        assert state.paths is not None  # called only if there are paths
        paths = state.paths.items[: self.paths]
        if self.prompt in WALK_PROMPTS:
            texts = [report.text for report in state.reports or ()]
            # one report for each walk is written by the verbaliser of `NodesThenWalks`
            if len(texts) == len(state.paths):
                return texts[: self.paths]
            return word_paths(graph, paths)
        if self.prompt == "triples":
            return [" ".join(bracketed_triples(graph, path.edges)) for path in paths]
        return graph.texts(paths)

    def _messages(
        self, question: Question, texts: list[str], reports: tuple[WrittenReport, ...] = ()
    ) -> tuple[dict[str, str], ...]:
        prompt = self._prompt_row
        paths = prompt.get("between", "\n").join(" ".join(text.split()) for text in texts)
        report_lines = "\n".join(f"{report.title}: {report.text}" for report in reports)
        values = {
            "paths": paths or "(no path was found)",
            "reports": report_lines or "(no report)",
            "question": question.text,
        }
        return with_examples("answer", prompt, self.shots, question.abstract, **values)

    def words(self) -> str:
        return "answer" if self.reads else "answer from the question alone"


def bracketed_triples(graph, edges: Sequence[int]) -> list[str]:
    """Return the triples of some edges, each as `(head, relation, tail)`."""
    heads, relations, tails = graph.triples(np.array(edges, np.int64))
    triples = zip(graph.names(heads), relations.tolist(), graph.names(tails))
    return [
        f"({head}, {graph.relation_names[relation]}, {tail})" for head, relation, tail in triples
    ]


def strip_answer_marks(reply: str) -> str:
    """Return the answers after "ans:" in a reply, joined by commas.

    The reply has one answer a line. A reply without such lines is returned whole.

    >>> from core.operators.generate import strip_answer_marks
    >>> strip_answer_marks("These fit.\\nans: Rope\\nans: Vertigo")
    'Rope, Vertigo'
    """
    answers = [
        ANSWER_MARK_PATTERN.sub("", line).strip()
        for line in reply.splitlines()
        if ANSWER_MARK_PATTERN.match(line)
    ]
    return ", ".join(dict.fromkeys(answer for answer in answers if answer)) or reply.strip()


def estimate_prompt_tokens(messages) -> int:
    """Estimate the tokens of messages if no model can count them.

    A Latin character counts as 1 / 3.5 of a token, another letter as 3 / 3.5, nearly one.

    Parameters
    ----------
    messages : chat messages, dicts with the key `content`.
    """
    texts = [message["content"] for message in messages]
    n_non_latin = sum(len(NON_LATIN_PATTERN.findall(text)) for text in texts if not text.isascii())
    return round((sum(map(len, texts)) + 2 * n_non_latin) / PROMPT_CHARACTERS_PER_TOKEN)
