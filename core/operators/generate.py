"""Answer generation: the paths put before a language model."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from core.indexes.sentences import sentences
from core.operators.asking import asked, with_room
from core.operators.base import Context, Operator, Recorder
from core.operators.length import longest
from core.parameters import param
from core.prompts import filled, prompts, system
from core.types import Path, Prompt, Question, Report, State

READS = {
    "reasoning-paths": ("paths",),
    "paths-in-words": ("paths",),
    "paths-and-reports": ("paths", "reports"),
    "walks": ("paths",),
    "triples": ("paths",),
    "rewritten": ("reports",),
    "question-only": (),
    "question-or-decline": (),
    "question-in-words": (),
}
PROMPTS = tuple(READS)
MARK = re.compile(r"^\s*ans(?:wer)?\s*:\s*", re.IGNORECASE)  # before each answer, where a prompt asks for a line an answer
CHARACTERS_A_TOKEN = 3.5  # used only to foretell a prompt's size where no model is asked


@dataclass(frozen=True, repr=False)
class Answer(Operator):
    """What a language model answers, shown the first `paths` paths (LEGO-GraphRAG's generation, temperature 0).

    Zero-shot, or with one or a few solved examples before the question. Where the paths do not fit into the model's
    context, the last ones are left out and the trace says how many. With no path found the model is asked all the
    same and told so. "paths-and-reports" shows community reports before the paths (LEGO-GraphRAG's GRAG-M). "walks" shows the paths as
    sentences, joined by semicolons, and gives the model a sentence for what it does not know (Walk&Retrieve, Fig. 2b), as
    "question-or-decline" does without them; "triples" shows the triples of each path and asks for a line an answer (SubgraphRAG),
    "rewritten" what a language model made of the paths (Retrieve-Rewrite-Answer). To an abstract question a long answer is asked for by
    "question-in-words" and "paths-in-words"; the others ask for names all the same.

    >>> state = retrieve("EgoNetwork() >> ShortestPaths(direction='out') >> Answer(paths=2)", "A", models=says("B, C"))
    >>> state.answer, state.prompt.paths
    ('B, C', 2)
    """

    stage = "generate"
    title = "answer"
    writes = ("prompt", "answer")

    prompt: str = param("reasoning-paths", "Prompt", "What the model is shown beside the question.", choices=PROMPTS)
    paths: int = param(32, "Paths in the prompt", "At most so many paths, the best first.", low=0, high=10_000)
    shots: int = param(0, "Solved examples", "0 is zero-shot, 1 one-shot, more few-shot.", low=0, high=3)
    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param("answer", "Model", "The role or name of the chat model that answers.", chat=True)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return READS[self.prompt]

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        texts = self._texts(ctx.graph, state) if state.paths and "paths" in self.reads else []
        reports = (state.reports or ()) if "reports" in self.reads else ()
        if not ctx.answering:
            return state.replace(prompt=Prompt(self._messages(state.question, texts, reports), len(texts), reports=len(reports)))
        ctx.progress("Waiting for the language model", None)
        chat = ctx.models.chat(self.role)
        most = longest(state.question, self.max_tokens, chat.context)
        prompt_of = lambda count: self._messages(state.question, texts[:count], reports)
        alone = "question and the community reports alone need" if reports else "question alone needs"
        shown, count, tokens = with_room(chat, prompt_of, len(texts), most, alone=alone)
        prompt = Prompt(tuple(shown), count, tokens, len(reports))
        if prompt.paths < len(texts):
            recorder.notes.append(f"Only {prompt.paths} of {len(texts)} paths fit into the model's context of {chat.context:,} tokens.")
        ctx.progress("Reading the paths", None)
        reply = asked(chat, prompt.messages, ctx, recorder, most, "answer")
        prompt = replace(prompt, tokens=reply.tokens_in or prompt.tokens)
        return state.replace(prompt=prompt, answer=without_marks(reply.text) if self.prompt == "triples" else reply.text.strip())

    def _texts(self, graph, state: State) -> list[str]:
        """The paths as the prompt shows them; walks as a language model told them, where one did."""
        assert state.paths is not None  # asked only where there are some
        paths = state.paths.items[: self.paths]
        if self.prompt == "walks":
            texts = [report.text for report in state.reports or ()]
            return texts[: self.paths] if len(texts) == len(state.paths) else sentences(graph, paths)
        if self.prompt == "triples":
            return [" ".join(_in_brackets(graph, path)) for path in paths]
        return graph.texts(paths)

    def _messages(self, question: Question, texts: list[str], reports: tuple[Report, ...] = ()) -> tuple[dict[str, str], ...]:
        prompt = prompts("answer")[self.prompt]
        messages = [{"role": "system", "content": system(prompt, question.abstract)}]
        for example in prompt["examples"][: self.shots]:
            messages.append({"role": "user", "content": filled(prompt["user"], **example)})
            messages.append({"role": "assistant", "content": example["answer"]})
        paths = prompt.get("between", "\n").join(" ".join(text.split()) for text in texts) or "(no path was found)"
        report_lines = "\n".join(f"{report.title}: {report.text}" for report in reports) or "(no report)"
        shown = filled(prompt["user"], paths=paths, reports=report_lines, question=question.text)
        return (*messages, {"role": "user", "content": shown})

    def words(self) -> str:
        return "answer" if self.reads else "answer from the question alone"


def _in_brackets(graph, path: Path) -> list[str]:
    """The triples of a path, each as `(head, relation, tail)`."""
    heads, relations, tails = graph.triples(np.array(path.edges, np.int64))
    named = zip(graph.names(heads), relations.tolist(), graph.names(tails))
    return [f"({head}, {graph.relation_names[relation]}, {tail})" for head, relation, tail in named]


def without_marks(reply: str) -> str:
    """The answers of a reply that gives one a line after “ans:”, with commas between them; a reply without such lines as it is.

    >>> from core.operators.generate import without_marks
    >>> without_marks("These fit.\\nans: Rope\\nans: Vertigo")
    'Rope, Vertigo'
    """
    found = [MARK.sub("", line).strip() for line in reply.splitlines() if MARK.match(line)]
    return ", ".join(dict.fromkeys(answer for answer in found if answer)) or reply.strip()


def about_tokens(messages) -> int:
    """A rough size of messages in tokens, where no model is at hand to count."""
    return round(sum(len(message["content"]) for message in messages) / CHARACTERS_A_TOKEN)
