"""Answer generation: a language model reads the paths and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.indexes.path_sentences import word_paths
from core.operators.answer_length import answer_length
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.parameters import param
from core.prompts import OWN_SOURCE, load_prompts, own_prompt, with_examples
from core.types import Path, Prompt, Question, State, WrittenReport

PROMPT_READS = {name: tuple(prompt["reads"]) for name, prompt in load_prompts("answer").items()}
ANSWER_PROMPTS = tuple(PROMPT_READS)
WALK_PROMPTS = ("walks", "walk-and-retrieve")  # prompts that show paths as sentences
PATH_PLACES = ("question", "paths", "reports")
ANSWER_PROMPT_HELP = (
    "What the model is shown and how it is asked: “lego-graphrag” and “walk-and-retrieve” as "
    "these papers print it, the others in a way of our own."
)
SHOTS_HELP = "0 is zero-shot, 1 one-shot, more few-shot. A template of your own shows none."
PATH_TEMPLATE_HELP = (
    "A prompt of your own in the place of that one: a text with {question}, and {paths} or "
    "{reports} where they belong. What comes before a line --- is the system message."
)
# before each answer, in prompts that ask for one answer a line
ANSWER_MARK_PATTERN = re.compile(r"^\s*ans(?:wer)?\s*:\s*", re.IGNORECASE)
# letters that are not Latin
NON_LATIN_PATTERN = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
PROMPT_CHARACTERS_PER_TOKEN = 3.5  # used only to estimate a prompt's size if no model is asked


@dataclass(frozen=True, repr=False)
class Answer(Operator):
    """The answer of a language model that is shown the first `paths` paths.

    LEGO-GraphRAG's generation, at temperature 0: zero-shot, or with one or a few solved examples
    before the question. If the paths do not fit into the model's context, the last ones are left
    out, and the trace says how many. If no path was found, the model is asked all the same and told
    so.

    Prompts: "paths-and-reports" shows community reports before the paths (LEGO-GraphRAG's GRAG-M).
    "walks" shows the paths as sentences joined by semicolons, and gives the model a sentence for
    what it does not know (Walk&Retrieve, Fig. 2b). "question-or-decline" does so without paths.
    "triples" shows the triples of each path and asks for one answer a line (SubgraphRAG).
    "rewritten" shows the text that a language model made of the paths (Retrieve-Rewrite-Answer).
    "question-in-words" and "paths-in-words" ask for a long answer to an abstract question; the
    others always ask for names.

    "lego-graphrag" and "walk-and-retrieve" have the structure of the prompts that LEGO-GraphRAG
    (technical report, B.13; with examples v1, A.2) and Walk&Retrieve (Fig. 2b) print, in words of
    this project. A `template` is a person's own prompt with the places {question}, {paths} and
    {reports}. Its paths are written as in `prompt`.

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
    def _row(self) -> dict[str, Any]:
        """The prompt, from the table of prompts or from the template."""
        row = load_prompts("answer")[self.prompt]
        if self.template:
            return own_prompt(self.template, PATH_PLACES) | {"between": row.get("between", "\n")}
        return row

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        texts = self._texts(ctx.graph, state) if state.paths and "paths" in self.reads else []
        reports = (state.reports or ()) if "reports" in self.reads else ()
        paper = load_prompts("answer")[self.prompt].get("source", "")
        source = OWN_SOURCE if self.template else f"after {paper}" if paper else ""
        if not ctx.answering:
            sent = self._messages(state.question, texts, reports)
            return state.replace(
                prompt=Prompt(sent, len(texts), reports=len(reports), source=source)
            )
        ctx.watch.report("Waiting for the language model")
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        make_prompt = lambda count: self._messages(state.question, texts[:count], reports)
        overflow_words = (
            "question and the community reports alone need" if reports else "question alone needs"
        )
        messages, count, tokens = fit_prompt(
            chat, make_prompt, len(texts), reply_tokens, alone=overflow_words
        )
        prompt = Prompt(tuple(messages), count, tokens, len(reports), source=source)
        if prompt.paths < len(texts):
            recorder.notes.append(
                f"Only {prompt.paths} of {len(texts)} paths fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        has_marks = self.prompt == "triples" and not self.template
        ctx.watch.report("Reading the paths")
        reply = request_reply(chat, prompt.messages, ctx, recorder, reply_tokens, "answer")
        prompt = replace(prompt, tokens=reply.tokens_in or prompt.tokens)
        return state.replace(
            prompt=prompt,
            answer=strip_answer_marks(reply.text) if has_marks else reply.text.strip(),
        )

    def _texts(self, graph, state: State) -> list[str]:
        """Return the paths as the prompt shows them.

        Walks are shown in the words of a language model if one rewrote them.
        """
        assert state.paths is not None  # called only if there are paths
        paths = state.paths.items[: self.paths]
        if self.prompt in WALK_PROMPTS:
            texts = [report.text for report in state.reports or ()]
            return (
                texts[: self.paths] if len(texts) == len(state.paths) else word_paths(graph, paths)
            )
        if self.prompt == "triples":
            return [" ".join(_triples_of_path(graph, path)) for path in paths]
        return graph.texts(paths)

    def _messages(
        self, question: Question, texts: list[str], reports: tuple[WrittenReport, ...] = ()
    ) -> tuple[dict[str, str], ...]:
        prompt = self._row
        paths = (
            prompt.get("between", "\n").join(" ".join(text.split()) for text in texts)
            or "(no path was found)"
        )
        report_lines = (
            "\n".join(f"{report.title}: {report.text}" for report in reports) or "(no report)"
        )
        values = {"paths": paths, "reports": report_lines, "question": question.text}
        return with_examples("answer", prompt, self.shots, question.abstract, **values)

    def words(self) -> str:
        return "answer" if self.reads else "answer from the question alone"


def _triples_of_path(graph, path: Path) -> list[str]:
    """Return the triples of a path, each as `(head, relation, tail)`."""
    heads, relations, tails = graph.triples(np.array(path.edges, np.int64))
    triples = zip(graph.names(heads), relations.tolist(), graph.names(tails))
    return [
        f"({head}, {graph.relation_names[relation]}, {tail})" for head, relation, tail in triples
    ]


def strip_answer_marks(reply: str) -> str:
    """Return the answers after "ans:" in a reply, joined by commas.

    The reply has one answer a line. A reply without such lines is returned unchanged.

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

    A letter that is not Latin counts as nearly one token.
    """
    said = [message["content"] for message in messages]
    strange = sum(len(NON_LATIN_PATTERN.findall(text)) for text in said if not text.isascii())
    return round((sum(map(len, said)) + 2 * strange) / PROMPT_CHARACTERS_PER_TOKEN)
