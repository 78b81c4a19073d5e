"""A reader of a language model's reply reads the answer alone.

It reads no draft in a thought, and no fence or words around JSON.

Every reader is run against a loopback server that answers plainly, thinks of a wrong reply first in
one of three ways, or fences its answer; what comes of it must be the same. A new reader needs a row
in `READERS`.
"""

from __future__ import annotations

import ast
import json
from types import SimpleNamespace

import numpy as np
import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.extract.described_names import DescribedNames
from core.builds.extract.language_model import LanguageModelExtraction
from core.builds.facts import ChunkEntity, Facts
from core.builds.group.reports import Reports as CorpusReports
from core.builds.group.summaries import summarise_by_model as summed_up
from core.builds.group.summaries import summarise_descriptions
from core.builds.merge.citations import Titles
from core.builds.merge.corpus_graphs import cited_by_model
from core.corpus import Document, new_folder, write_corpus
from core.corpus.chunks import documents_as_chunks
from core.environment import Environment
from core.evaluation.metrics.answer_support import support_by_model as supported
from core.evaluation.metrics.judge import judge_answer
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.pairwise.verdicts import ask_judge as compared
from core.evaluation.questions.abstract_questions import AbstractQuestionWriter, Recipe
from core.evaluation.questions.linked_questions import LinkedQuestionWriter
from core.evaluation.questions.model_questions import ModelQuestionWriter
from core.graph.algorithms.leiden import NodeCommunities
from core.indexes.reports import report_prompt, write_report
from core.indexes.walk_sentences import WalkSentences
from core.io.home import ROOT
from core.models.base import Task
from core.models.chat.openai import OpenAIChat
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.models.llm_chooser import LLMChooser
from core.operators.base import Context
from core.operators.stop import are_paths_sufficient
from core.operators.text import parse_line
from core.operators.texts.answer.own_answer import OwnAnswer
from core.runtime.jobs import Job
from core.types import Path, Prompt, Question, State
from tests.core.builds.kit import Texts
from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream
from tests.core.operators.nodes.kit import corpus_graph
from tests.core.operators.texts.kit import story
from tests.core.operators.texts.test_methods_kg import passages
from tests.films import Written

RIGHT_TEXT, WRONG_TEXT = "Cratchit works for Scrooge.", "Fred is the nephew of Marley."
ANN = "Ann is a cook who lives in Rome. She met Bob there."


def extraction(name: str, other: str) -> dict:
    entities = [
        {"name": one, "type": "person", "description": f"About {one}."} for one in (name, other)
    ]
    return {
        "entities": entities,
        "relations": [
            {"source": name, "target": other, "description": "They met.", "keywords": "meeting"}
        ],
    }


REPLIES = {  # right and wrong, by the first field of the schema
    "choices": ({"choices": [2]}, {"choices": [1]}),
    "ratings": ({"ratings": [{"number": 2, "score": 9}]}, {"ratings": [{"number": 1, "score": 9}]}),
    "sufficient": ({"sufficient": "yes"}, {"sufficient": "no"}),
    "plans": ({"plans": [["r1", "r4"]]}, {"plans": [["r0"]]}),
    "path": ({"path": "A -> r1 -> C"}, {"path": "A -> r0 -> B"}),
    "correct": ({"correct": True}, {"correct": False}),
    "supported": ({"supported": True}, {"supported": False}),
    "why": (
        {"why": "", **dict.fromkeys(CRITERIA, "second")},
        {"why": "", **dict.fromkeys(CRITERIA, "first")},
    ),
    "users": (
        {"users": [{"name": "A teacher", "about": "teaches"}]},
        {"users": [{"name": "A thief", "about": "steals"}]},
    ),
    "tasks": ({"tasks": ["Read it"]}, {"tasks": ["Burn it"]}),
    "questions": ({"questions": ["What is it about?"]}, {"questions": ["Who is it?"]}),
    "question": (
        {"question": "For whom does Cratchit work?", "answer": "Scrooge"},
        {"question": "Who is the nephew of Marley?", "answer": "Fred"},
    ),
    "citations": (
        {"citations": [{"author": "", "year": "", "title": "A tool for trees"}]},
        {"citations": [{"author": "", "year": "", "title": "On old wrong trees"}]},
    ),
    "names": ({"names": ["Ann", "Rome"]}, {"names": ["Bob"]}),
    "triples": (
        {"triples": [{"subject": "Ann", "relation": "lives in", "object": "Rome"}]},
        {"triples": [{"subject": "Bob", "relation": "lives in", "object": "Rome"}]},
    ),
    "high": ({"high": ["family"], "low": ["Tim"]}, {"high": ["work"], "low": ["Fred"]}),
    "points": (
        {"points": [{"description": "Right.", "score": 90}]},
        {"points": [{"description": "Wrong.", "score": 80}]},
    ),
    "entities": (extraction("Ann", "Rome"), extraction("Bob", "Rome")),
    "about": (
        {"about": {"Ann": "A cook."}, "links": [["Ann", "lives in", "Rome", "home"]]},
        {"about": {"Ann": "A thief."}, "links": [["Bob", "lives in", "Rome", "home"]]},
    ),
    "title": (
        {"title": "Right", "summary": "On right.", "findings": ["One."], "rating": 5},
        {"title": "Wrong", "summary": "On wrong.", "findings": ["Two."], "rating": 6},
    ),
}

WAYS = {
    "plainly": lambda right, wrong, _: texts(right),
    "wrongly": lambda right, wrong, _: texts(wrong),
    "in tags": lambda right, wrong, _: texts(f"<think>Maybe {wrong} No.</think>\n\n{right}"),
    "with a closing tag": lambda right, wrong, _: texts(f"Maybe {wrong} No.</think>{right}"),
    "in a field": lambda right, wrong, _: [
        {"content": None, "reasoning_content": f"Maybe {wrong}"},
        *texts(right),
    ],
    "fenced": lambda right, wrong, schema: texts(
        f"{'Here it is:' if schema else ''}\n```json\n{right}\n```"
    ),
    "in tags, fenced": lambda right, wrong, schema: texts(
        f"<think>```\n{wrong}\n```</think>```\n{right}\n```"
    ),
}


def answer(handler, body):
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    right, wrong = (
        map(json.dumps, REPLIES[next(iter(schema["properties"]))])
        if schema
        else (RIGHT_TEXT, WRONG_TEXT)
    )
    stream(handler, sent(*WAYS[body["model"]](right, wrong, schema)))


@pytest.fixture(scope="module")
def chats():
    with serving(answer) as (url, _):
        yield {way: OpenAIChat(url, way, way) for way in WAYS}


class ChooserModels(Written):
    def chooser(self, expression):
        return LLMChooser(self._chat)

    def is_chat(self, name):
        return True


@pytest.fixture
def ran(toy, tmp_path, monkeypatch):
    """`ran(chat)` has all that readers are run with, in a home of its own."""

    def make(chat):
        home = tmp_path / chat.name
        home.mkdir()
        monkeypatch.setenv("HOPSCOPE_HOME", str(home))
        return SimpleNamespace(chat=chat, models=ChooserModels(chat), home=home, toy=toy)

    return make


def line(text: str, graph=None, question: str = "who is the clerk Cratchit"):
    """A function that runs a line and gives what it finds.

    The line runs on the toy graph from A, or on another graph.
    """

    def run(one):
        on = graph() if graph else one.toy
        context = Context(on, Environment(one.models))
        state = State(Question(question), () if graph else tuple(on.nodes_named("A")))
        for operator in parse_line(text):
            state = operator(state, context)
        found = on.texts(state.paths.items) if state.paths else None
        points = [(point.score, point.text) for point in state.points or ()]
        return (
            state.answer,
            state.names,
            state.keywords,
            points,
            state.reports,
            found,
            [step.notes for step in state.trace],
        )

    return run


def extracted(operator):
    def run(one):
        ((_, facts),) = operator.extract_facts([ANN], BuildContext(one.models))
        return facts

    return run


def reports(one):
    made = BuildState(Texts(one.home), story().columns.chunks, None, story())
    found = CorpusReports().apply(made, BuildContext(one.models)).graph.columns.communities
    return found.texts("title"), found.texts("report"), found.numbers("rating").tolist()


def questions(one):
    corpus = write_corpus(
        new_folder("carols"),
        [Document("carol", "Marley was dead. Scrooge was his partner.", "A Carol")],
    )
    found = AbstractQuestionWriter(corpus, one.models, Recipe(1, 1, 1))(Job("q"))
    return found.about, [question.text for question in found.questions]


def gold_questions(one):
    text = f"{RIGHT_TEXT} {WRONG_TEXT} {'Nothing else is known of either of them. ' * 6}"
    chunks = documents_as_chunks([Document("carol", text)])
    corpus = write_corpus(new_folder("gold"), [Document("carol", text)])
    facts, chat = (
        [Facts((ChunkEntity("Cratchit"), ChunkEntity("Marley")))],
        CachedChat(lambda: one.chat, one.chat.name, SavedReplies()),
    )
    return ModelQuestionWriter(corpus, chunks, facts, chat, lambda asked: (), 1, 60.0)(
        Job("q")
    ).all_questions()


def linked_questions(one):
    corpus = write_corpus(new_folder("linked"), [Document("carol", RIGHT_TEXT)])
    return [
        question.text
        for question in LinkedQuestionWriter(corpus, corpus_graph(), one.models, 1)(
            Job("q")
        ).questions
    ]


def citations(one):
    titles = Titles(
        [Document("tool", "-", "A tool for trees"), Document("wrong", "-", "On old wrong trees")]
    )
    return cited_by_model(
        one.chat, "As a tool for trees shows.", (), titles, BuildContext(one.models)
    )


def support(one):
    after = State(Question("Who?"), answer=RIGHT_TEXT)
    for operator in parse_line("SparseChunks(keep=1) >> AnswerFromTables()"):
        after = operator(after, Context(story(), Environment(Written())))
    return supported(after, one.chat).verdicts


def walks(one):
    return WalkSentences(one.toy, lambda: one.chat, one.chat.name)([Path((0, 1), (0,), (True,))])


def communities(one):
    found = NodeCommunities(np.zeros(one.toy.n_nodes, np.int32))
    report = write_report(one.chat, report_prompt(one.toy, found.members(0)))
    return report.title, report.text, report.note


def own_prompt(one):
    """The answer to a prompt that a retriever of one's own gave."""
    prompt = Prompt(({"role": "user", "content": "Who is the clerk?"},), 0)
    return OwnAnswer()(
        State(Question("Who is the clerk?"), prompt=prompt),
        Context(story(), Environment(one.models)),
    ).answer


FROM_A = "EgoNetwork() >> ShortestPaths(direction='out')"
READERS = {
    "operators.generate": [
        line(f"{FROM_A} >> Answer()"),
        line(f"{FROM_A} >> Answer(prompt='triples')"),
    ],
    "operators.rewrite": [line(f"{FROM_A} >> RewritePaths()")],
    "operators.constrained_paths": [line(f"{FROM_A} >> DecodedPaths(keep=1)")],
    "operators.retrieve.plans": [line("EgoNetwork() >> RelationPlans()")],
    "models.rating": [line("ThinkOnGraph(depth=2, exhausted='facts', direction='out')")],
    "models.llm_chooser": [line(f"{FROM_A} >> Rank(model='choose', keep=1)")],
    "operators.stop": [
        lambda one: are_paths_sufficient(one.chat, Task("q"), ["A -> r1 -> C"])[::2]
    ],
    "operators.texts.answer.generate": [line("SparseChunks(keep=1) >> AnswerFromTables()", story)],
    "operators.texts.answer.own_answer": [own_prompt],
    "operators.texts.answer.passages": [
        line("SparseChunks(keep=1) >> AnswerFromPassages(form='thought')", story)
    ],
    "operators.texts.answer.reasoning": [
        line(
            "NamesInQuestion() >> LinkNames() >> KhopPaths() >> AnswerFromEvidence()",
            story,
            "Tim and Scrooge",
        )
    ],
    "operators.texts.answer.points": [
        line("SparseChunks(keep=2) >> Points() >> AnswerFromPoints()", story)
    ],
    "operators.texts.next_thought": [line("SparseChunks(keep=1) >> NextThought()", story)],
    "operators.texts.missing_evidence": [
        line("SparseChunks(keep=1) >> MissingEvidence()", passages, "Scrooge")
    ],
    "operators.texts.question": [
        line(f"{name}(by='choose')", story) for name in ("NamesInQuestion", "ExtractKeywords")
    ],
    "operators.nodes.hypothesise": [line("Hypothesise()", story)],
    "operators.nodes.reason_and_retrieve": [
        line("EmbedQuery() >> ReasonAndRetrieve(keep=1)", story)
    ],
    "evaluation.metrics.judge": [
        lambda one: judge_answer(one.chat, "Who?", ["Ann"], "It was Ann.").right
    ],
    "evaluation.metrics.answer_support": [support],
    "evaluation.pairwise.verdicts": [
        lambda one: compared(one.chat, "What?", "A miser.", "A miser who learns to give.")
    ],
    "evaluation.questions.abstract_questions": [questions],
    "evaluation.questions.model_questions": [gold_questions],
    "evaluation.questions.linked_questions": [linked_questions],
    "builds.merge.corpus_graphs": [citations],
    "indexes.walk_sentences": [walks],
    "indexes.reports": [communities],
    "builds.extract.language_model": [
        extracted(LanguageModelExtraction(schema=schema, gleaning=0))
        for schema in ("kg", "tkg", "rkg")
    ],
    "builds.extract.described_names": [extracted(DescribedNames())],
    "builds.group.reports": [reports],
    "builds.group.summaries": [
        lambda one: summed_up(["One.", "Two."], 20, "answer", BuildContext(one.models)),
        lambda one: summarise_descriptions(
            "Ann", ["A cook.", "Of Rome."], 20, "answer", BuildContext(one.models)
        ),
    ],
}
EACH = [
    pytest.param(run, id=f"{name}-{number}")
    for name, runs in READERS.items()
    for number, run in enumerate(runs)
]
HANDS_ON = {
    "models.chat.saved_replies",
    "operators.model_replies",
    "builds.model_requests",
}  # the reply as it is
OF_ITS_OWN = {  # see their own tests: a model that it holds itself, and servers that are measured
    "finetune.llm",
    "models.chat.profile",
}


@pytest.mark.parametrize("run", EACH)
def test_a_reader_sees_the_answer_alone(run, chats, ran):
    found = {way: run(ran(chats[way])) for way in WAYS}
    plain, wrong = found.pop("plainly"), found.pop("wrongly")
    # who read the draft would show it
    assert found == dict.fromkeys(found, plain) and wrong != plain


def test_every_reader_is_here():
    found = set()
    for file in (ROOT / "core").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        calls = {
            node.func.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        imported = {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module in ("core.builds.model_requests", "core.operators.model_replies")
            for name in node.names
        }
        if "reply" in calls or imported & {"request_reply", "reply_to"}:
            found.add(".".join(file.relative_to(ROOT / "core").with_suffix("").parts))
    assert found == set(READERS) | HANDS_ON | OF_ITS_OWN
