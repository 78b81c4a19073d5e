"""Prompts printed in papers, and user templates: the order of parts, and parsing of replies."""

import pytest

from core.errors import BadParameter
from core.lines.difference import changed_settings
from core.methods.catalogue import find_method, published_methods
from core.methods.prompt_variants import methods_with_prompt, published_prompts
from core.models.base import Task
from core.models.llm_chooser import LLMChooser, choosing_messages, parse_texts
from core.operators import Answer, EgoNetwork, ShortestPaths
from core.operators.text import parse_line
from core.operators.texts.answer.generate import AnswerFromTables
from core.operators.texts.answer.passages import AnswerFromPassages
from core.prompts import MAX_TEMPLATE_CHARACTERS, choosing_prompts, load_prompts
from tests.core.operators.scripted import Script
from tests.notes import NoteWith

TEXTS = ["A -> r -> B", "A -> s -> C", "A -> t -> D"]
IS_CHAT = {"choose", "answer"}.__contains__


@pytest.fixture
def paths(kit):
    whole = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    return ShortestPaths(parallel=False)(whole, kit.context())


def order(text: str, *parts: str) -> bool:
    """Return whether the parts occur once each, in this order."""
    places = [text.find(part) for part in parts]
    return (
        -1 not in places
        and places == sorted(places)
        and all(text.count(part) == 1 for part in parts)
    )


def test_titles_do_not_credit_papers_with_our_words():
    for file in ("answer", "choose"):
        assert not [
            row["title"] for row in load_prompts(file).values() if "print" in row.get("title", "")
        ]


def test_zero_shot_prompt_has_persona_paths_question(kit, paths):
    """Appendix B.13: the persona, then “Reasoning Paths:”, then “Question:”.

    No list of names is requested.
    """
    after = Answer(prompt="lego-graphrag", paths=2)(paths, kit.context())
    system, user = (message["content"] for message in after.prompt.messages)
    assert order(
        user, "Reasoning Paths:", *kit.texts(paths)[:2], "Question:", "a question"
    ) and user.endswith("a question")
    assert "commas" not in system + user and "reason" in system
    assert after.prompt.source == "after LEGO-GraphRAG, technical report, B.13, and v1, A.2"


def test_one_shot_prompt_of_v1_requests_the_answer_alone(kit, paths):
    """Appendix A.2, one-shot: “# Examples” with an explained example, then “# Query”.

    The query requests the answer alone and lists the entities of the paths. All of it is one
    message.
    """
    messages = Answer(prompt="lego-graphrag", shots=1, paths=1)(
        paths, kit.context()
    ).prompt.messages
    assert [message["role"] for message in messages] == ["system", "user"]
    user = messages[1]["content"]
    assert order(
        user,
        "# Examples",
        "and explain your answer",
        "Explanation:",
        "# Query",
        "nothing else",
        kit.texts(paths)[0],
        "a question",
    )
    assert user.rstrip().endswith("## Output:")
    three = Answer(prompt="lego-graphrag", shots=3)(paths, kit.context()).prompt.messages[1][
        "content"
    ]
    assert three.count("Explanation:") == 3 and three.count("# Query") == 1


def test_walk_and_retrieve_prompt_has_the_question_first(kit, paths):
    """Fig. 2b: the system message has the sentence that declines; question and context follow."""
    after = Answer(prompt="walk-and-retrieve", paths=2)(paths, kit.context())
    system, user = (message["content"] for message in after.prompt.messages)
    assert '"I do not know the answer"' in system and order(
        user, "a question", "One directed by Ann; One has genre Drama"
    )
    assert after.prompt.source == "after Walk&Retrieve, Fig. 2b"


def test_own_template_replaces_the_prompt(kit, paths):
    own = 'Be brief, as {"a": 1}.\n---\nQ: {question}\n{paths}\nA:'
    asked = paths.replace(question=paths.question.__class__("who is {paths}?"))
    after = Answer(template=own, paths=1, shots=2)(asked, kit.context())
    assert [message["content"] for message in after.prompt.messages] == [
        'Be brief, as {"a": 1}.',
        f"Q: who is {{paths}}?\n{kit.texts(paths)[0]}\nA:",
    ]
    assert after.prompt.source == "a template of your own"
    above = Answer(template="{paths}\n---\n{question}", paths=1)(asked, kit.context())
    assert [message["content"] for message in above.prompt.messages] == [
        kit.texts(paths)[0],
        "who is {paths}?",
    ]
    alone = Answer(template="{question}?")
    assert alone.reads == () and [
        m["role"] for m in alone(kit.state("One"), kit.context()).prompt.messages
    ] == ["user"]
    assert Answer(template="{reports} {question}").reads == ("reports",)


@pytest.mark.parametrize(
    "kind, fit", [(Answer, "paths"), (AnswerFromTables, "tables"), (AnswerFromPassages, "passages")]
)
def test_unknown_placeholders_are_refused(kind, fit):
    assert kind(template=f"{{{fit}}} {{question}}").template
    with pytest.raises(BadParameter, match=f"{{{fit}}}"):
        kind(template="{pahts} {question}")
    with pytest.raises(BadParameter, match="does not say {question}"):
        kind(template=f"{{{fit}}}")
    with pytest.raises(BadParameter, match="at most"):
        kind(template="{question}" + " " * MAX_TEMPLATE_CHARACTERS)


def test_template_survives_the_text_of_its_line():
    line = parse_line("EgoNetwork() >> ShortestPaths()") >> Answer(
        template='<script>\n---\n"{paths}" {question}'
    )
    assert repr(parse_line(repr(line))) == repr(line)


@pytest.mark.parametrize("unit", ["relation", "triple", "node"])
def test_pruning_prompt_has_example_candidates_question(unit):
    """Appendix B.13, node, edge and triple pruning: persona, example, candidates, then question."""
    heading = {"relation": "Relations:", "triple": "Triples:", "node": "Entities:"}[unit]
    system, user = (
        m["content"]
        for m in choosing_messages(Task("my question", unit), TEXTS, 2, "lego-graphrag")
    )
    assert "skilled" in system and user.startswith("Example:\n")
    after = user[user.rindex(heading) :]
    assert order(after, heading, *TEXTS, "Question:", "my question") and user.endswith(
        "my question"
    )
    assert user.count("Question:") == 2 and "{" not in system + user


def test_prompts_of_v1_have_the_printed_parts():
    """Appendix A.2: the parts of each prompt and their order.

    Path filtering names the number and the topic entity before the paths. Path refinement has
    question and entities before the list. Subgraph extraction has the relations before the
    question. All end in “## Output:”.
    """
    asked = lambda unit: [
        m["content"]
        for m in choosing_messages(
            Task("my question", unit, entities=("Ann", "Bob")), TEXTS, 7, "lego-graphrag-v1"
        )
    ]
    for unit in ("triple", "path", "relation"):
        system, user = asked(unit)
        assert (
            order(user, "# Example\n", "# Query", "nothing else!")
            and user.endswith("## Output:")
            and "{" not in system + user
        )
    system, user = asked("triple")
    assert "7 paths" in system and order(
        user[user.index("# Query") :], "my question", "Topic Entity:\nAnn, Bob", *TEXTS
    )
    assert order(asked("path")[1], "'my question' and the entities [Ann, Bob]", *TEXTS)
    assert order(asked("relation")[1], *TEXTS, "my question")


@pytest.mark.parametrize(
    "reply, numbers",
    [
        ("A -> t -> D\nA -> r -> B", [3, 1]),
        ("1. A -> s -> C; A -> r -> B", [2, 1]),
        ("I take A -> s -> C.", [2]),
        ("A -> s -> C\n<script>", [2]),
        ("none of them", None),
        ("", None),
    ],
)
def test_replies_that_name_texts_are_parsed(reply, numbers):
    assert parse_texts(reply, TEXTS)[0] == numbers


def test_text_with_a_semicolon_is_one_text():
    assert parse_texts("a; b", ["a", "b", "a; b"])[0] == [3]


def test_choice_by_a_papers_prompt_uses_no_json():
    chat = Script("A -> t -> D\nA -> t -> D\nA -> r -> B\nA -> s -> C")
    choice = LLMChooser(chat, "lego-graphrag").choose(Task("q"), TEXTS, 2)
    assert choice.positions == (2, 0) and chat.schemas == [None]
    assert [note.split()[0] for note in choice.notes] == ["1", "The"]


def test_prompt_name_applies_to_answer_and_choice():
    (one, other), notes = methods_with_prompt(
        [find_method("lego-5"), find_method("language-model-only")], "lego-graphrag", IS_CHAT
    )
    _, kept, _, rank, answer = one.line.operators
    assert (
        kept.model
        == rank.model.replace("32", "64")
        == "prefilter(encoder, prompted(choose, lego-graphrag), 64)"
    )
    assert answer.prompt == "lego-graphrag" and one.name == "No. 5, prompt lego-graphrag"
    assert repr(other.line) == repr(find_method("language-model-only").line)
    assert notes == (NoteWith("Language model only", "own prompt"),)


def test_template_applies_where_its_contents_exist():
    rows = [find_method("lego-12"), find_method("vanilla-rag"), find_method("lego-grag-m")]
    (paths, tables, reports), notes = methods_with_prompt(rows, "{tables} {question}", IS_CHAT)
    assert (
        tables.line.operators[-1].template == "{tables} {question}"
        and tables.name == "VanillaRAG, own prompt"
    )
    assert [one.id for one in (paths, reports)] == ["lego-12", "lego-grag-m"] and len(notes) == 2
    with pytest.raises(BadParameter, match="does not say {question}"):
        methods_with_prompt(rows, "{tables}", IS_CHAT)


def test_long_template_is_shortened_in_names():
    usual = parse_line("EgoNetwork() >> ShortestPaths() >> Answer()")
    own = parse_line("EgoNetwork() >> ShortestPaths()") >> Answer(
        template="Facts:\n{paths}\n" + "very " * 99 + "{question}"
    )
    (said,) = changed_settings(usual, own)
    assert (
        said.startswith("template Facts: {paths} very very") and len(said) < 80 and "\n" not in said
    )


def test_published_rows_accept_published_prompts():
    known = list(published_methods().values())
    for name in published_prompts():
        found, notes = methods_with_prompt(known, name, IS_CHAT)
        assert len(found) == len(known) and len(notes) == sum(
            repr(a.line) == repr(b.line) for a, b in zip(known, found)
        )
    assert set(choosing_prompts()) == {"choose", "lego-graphrag", "lego-graphrag-v1"}
