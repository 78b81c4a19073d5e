"""Data from which the browser draws a line.

It has the blocks (bricks), slots, palette and form. A block is an operator of the line, and a slot
a position between blocks. The palette has the operators that fit at the selected position. The form
has the parameters of the selected block. `line_data` returns all of it, for assets/bricks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from core.builds import catalogue as builds
from core.builds.catalogue import GRAPH_KIND_WORDS
from core.builds.registry import BUILD_GRAMMAR
from core.diagnosis.curves import Curve
from core.diagnosis.wording import capitalised
from core.drafts import Brick, Draft, Slot, brick_faults, slots
from core.drafts.draft_faults import (
    fitting_slots,
    operator_refusals,
    possible_moves,
    replaceable_bricks,
)
from core.drafts.slots import LINE_OWNER, find_row
from core.drafts.terms import paper_term
from core.lines import Grammar
from core.lines.brick import default_operator, stage_of
from core.lines.difference import title_of
from core.methods.catalogue import published_methods
from core.operators.branch import OTHERWISE_ARM, Branch
from core.operators.text import RETRIEVAL_GRAMMAR
from core.parameters import format_value, parameters
from pages.parts.build.bench import Bench
from pages.parts.build.fields import block_fields, operator_sentence
from pages.parts.shared.wording import tr

STAGE_WORDS = {
    "graph": tr("Begin at a graph of texts"),
    "convert": tr("Read the question"),
    "extract": tr("Take a part of the graph"),
    "filter": tr("Thin that part"),
    "retrieve": tr("Find paths or texts"),
    "refine": tr("Choose among what was found"),
    "read": tr("Answer from the graph"),
    "generate": tr("Answer with a language model"),
}
# Short words for the stage of a block.
STAGE_SHORT_WORDS = {
    "graph": tr("Begin"),
    "convert": tr("Read the question"),
    "extract": tr("Take a part"),
    "filter": tr("Thin that part"),
    "retrieve": tr("Find"),
    "refine": tr("Choose"),
    "read": tr("Answer"),
    "generate": tr("Answer"),
}
BUILD_STAGE_WORDS = {
    "chunk": tr("Cut the documents"),
    "extract": tr("Read the chunks"),
    "resolve": tr("Join names"),
    "merge": tr("Make the graph"),
    "link": tr("Add edges"),
    "group": tr("Group chunks or entities"),
    "tell": tr("Report on groups"),
    "index": tr("Make it searchable"),
}
BUILD_STAGE_SHORT_WORDS = {
    "chunk": tr("Cut"),
    "extract": tr("Read"),
    "resolve": tr("Join names"),
    "merge": tr("Make the graph"),
    "link": tr("Add edges"),
    "group": tr("Group"),
    "tell": tr("Report"),
    "index": tr("Make searchable"),
}
# A grammar has the operators of a kind of line and their stages in order. By grammar: titles of the
# palette's groups, and short words for the stage of a block.
GRAMMAR_WORDS: Mapping[Grammar[Any], tuple[Mapping[str, str], Mapping[str, str]]] = {
    RETRIEVAL_GRAMMAR: (STAGE_WORDS, STAGE_SHORT_WORDS),
    BUILD_GRAMMAR: (BUILD_STAGE_WORDS, BUILD_STAGE_SHORT_WORDS),
}
START_WORDS = {
    RETRIEVAL_GRAMMAR: tr("Drop a step here, press +, or start from a method above."),
    BUILD_GRAMMAR: tr("Drop a step here, or press +."),
}
# Inputs of an operator that reads no result of another one, and outputs of one that writes none.
NO_INPUT_TEXT = tr("only the question")
NO_OUTPUT_TEXTS = {RETRIEVAL_GRAMMAR: tr("an answer"), BUILD_GRAMMAR: tr("vectors")}
# Titles of the rows of steps in a loop, a union (two searches) or a branch.
ARM_WORDS = {
    "body": tr("repeated, in this order"),
    "first": tr("one search"),
    "second": tr("another, from the same start"),
    OTHERWISE_ARM: tr("else"),
}
MAX_SHOWN_PARAMETERS = 4  # most parameters that a block shows
MAX_SHOWN_USES = 4  # most methods or kinds of graph that use an operator
BRANCH_SENTENCE = tr("The question's number of hops decides which row of steps runs.")
RULE_BRANCH_SENTENCE = tr("A learned rule decides which row of steps runs.")
BRANCH_ABOUT = tr(
    "Steps that depend on the question: those of the row for its number of hops, or those for "
    "all other questions."
)


def line_data(
    bench: Bench,
    outcomes: Mapping[int, Mapping[str, Any]],
    extra: Sequence[Mapping[str, Any]] = (),
    advice: Callable[[Any], dict[str, Any] | None] = lambda operator: None,
    curves: Callable[[int], Mapping[str, Curve]] = lambda key: {},
    documents: bool = True,
    refusal: Callable[[Any], str] = lambda operator: "",
) -> dict[str, Any]:
    """Return the data of assets/bricks, which bricks.js describes at its top.

    Parameters
    ----------
    bench : the editor of the line.
    outcomes : result of each block in the last run, by the block's key.
    extra : results of steps that were run but are no block of the line.
    advice : returns the suggestion for the selected operator, None if there is none.
    curves : returns the effect of parameter values of the block with a key, by parameter name.
    documents : whether documents are searched. If not, operators that begin at a graph of texts are
        the last group of the palette.
    refusal : returns why an operator with its default values cannot be used at any position; empty
        if it can.
    """
    draft, position = bench.draft, bench.selected_position
    draft_faults = brick_faults(draft)
    chosen_brick = draft.find(position) if isinstance(position, int) else None
    form = None
    if chosen_brick is not None:
        form = {
            **_form_data(chosen_brick, bench, curves(chosen_brick.key)),
            "advice": advice(chosen_brick.operator),
        }
    return {
        "bricks": [_brick_data(draft, brick, draft_faults, outcomes) for brick in draft.bricks],
        "extra": list(extra),
        "chosen": {"slot": str(position)} if isinstance(position, Slot) else {"key": position},
        "palette": _cached_palette(bench, documents, refusal),
        "form": form,
        "slots": {str(slot): _slot_words(draft, slot) for slot in slots(draft)},
        "start": START_WORDS[draft.grammar],
        **_line_text(bench),
        "complete": bench.line is not None,
        "undo": bool(bench.history.earlier),
        "redo": bool(bench.history.later),
        **bench.last_edit._asdict(),
    }


def _line_text(bench: Bench) -> dict[str, Any]:
    """Return the line as text, and the last rejected text."""
    rejected = (
        bench.rejected_change
        if bench.rejected_change is not None and bench.rejected_change.key is None
        else None
    )
    return {
        "text": bench.draft.text,
        "typed": rejected.typed if rejected is not None else None,
        "trouble": rejected.sentence if rejected is not None else "",
        "as_text": bench.as_text,
    }


def _form_data(brick: Brick, bench: Bench, curves: Mapping[str, Curve]) -> dict[str, Any]:
    return {
        "key": brick.key,
        "title": block_title(brick),
        "sentence": block_sentence(brick),
        **block_fields(brick, bench.rejected_change, curves),
    }


def block_title(brick: Brick) -> str:
    """Return the title of a block."""
    return tr(title_of(brick.cls))


def block_sentence(brick: Brick) -> str:
    """Return a sentence on a block, with its parameters' values."""
    if brick.cls is Branch:
        return BRANCH_SENTENCE if brick.given["on"] == "hops" else RULE_BRANCH_SENTENCE
    # A block with rows of its own, or without a usable operator, is described by the defaults.
    has_operator = brick.operator is not None and not brick.arms
    return operator_sentence(brick.operator if has_operator else brick.cls())


def _brick_data(
    draft: Draft, brick: Brick, faults: Mapping[int, str], outcomes: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the data of a block and its inner blocks."""
    return {
        "key": brick.key,
        "title": block_title(brick),
        "stage": brick.stage,
        "stage_words": GRAMMAR_WORDS[draft.grammar][1][brick.stage],
        "words": block_words(brick),
        "given": changed_parameters(brick),
        "fault": faults.get(brick.key, ""),
        "outcome": outcomes.get(brick.key),
        "moves": [str(slot) for slot in possible_moves(draft, brick.key)],
        "branch": brick.cls is Branch,
        "arms": [
            {
                "name": name,
                "label": _arm_words(brick, name),
                "bricks": [_brick_data(draft, inner, faults, outcomes) for inner in row],
            }
            for name, row in brick.arms.items()
        ],
    }


def block_words(brick: Brick) -> str:
    """Return what a block does in a few words, without its title.

    Empty if the title says the same, or for a block that contains others.
    """
    if brick.operator is None or brick.arms:
        return ""
    words = brick.operator.words()
    if not words.casefold().startswith(brick.cls.title.casefold()):
        return words
    rest = words[len(brick.cls.title) :].lstrip(", ")
    # A number alone would not be understood.
    is_number = rest[:1].isdigit() and rest.replace(",", "").isdigit()
    return words if is_number else rest


def _arm_words(brick: Brick, name: str) -> str:
    """Return the title of a row of steps. In a branch, a number is of hops or of a rule's arm."""
    if not name.isdecimal():
        return ARM_WORDS[name]
    if brick.given.get("on") == "arm":
        return tr("arm {number}", number=name)
    return f"{name} {'hop' if name == '1' else 'hops'}"


def changed_parameters(brick: Brick) -> list[list[str]]:
    """Return the first parameters that differ from their defaults.

    Each is a pair of its label and value.
    """
    pairs = [
        [tr(parameter.label), format_value(brick.given[parameter.name])]
        for parameter in parameters(brick.cls)
        if parameter.name in brick.given and brick.given[parameter.name] != parameter.default
    ]
    n_hidden = len(pairs) - MAX_SHOWN_PARAMETERS
    if n_hidden <= 0:
        return pairs
    return [*pairs[:MAX_SHOWN_PARAMETERS], ["", tr("and {more} more", more=n_hidden)]]


def _slot_words(draft: Draft, slot: Slot) -> str:
    """Return the position of a slot in words: `between PageRank and Rank`."""
    row = find_row(draft, slot) or ()
    outer_brick = draft.find(slot.owner) if slot.owner != LINE_OWNER else None
    inside = ""
    if outer_brick is not None:
        inside = tr(", in “{heading}”", heading=block_title(outer_brick))
    if not row:
        if outer_brick is not None:
            return tr(
                "in “{heading}”, {arm_words}",
                heading=block_title(outer_brick),
                arm_words=_arm_words(outer_brick, slot.arm),
            )
        return tr("as the first step")
    if slot.index == 0:
        return tr("before {heading}{inside}", heading=block_title(row[0]), inside=inside)
    if slot.index == len(row):
        return tr("after {heading}{inside}", heading=block_title(row[-1]), inside=inside)
    return tr(
        "between {before} and {after}{inside}",
        before=block_title(row[slot.index - 1]),
        after=block_title(row[slot.index]),
        inside=inside,
    )


def _cached_palette(bench: Bench, documents: bool, refusal: Callable[[Any], str]) -> dict[str, Any]:
    """Return the palette of the selected position.

    It is cached in `bench`, because checking each operator at each slot takes long.
    """
    key = bench.selected_position, documents
    if bench.palette is None or bench.palette[0] is not bench.draft or bench.palette[1] != key:
        bench.palette = (
            bench.draft,
            key,
            _palette(bench.draft, bench.selected_position, documents, refusal),
        )
    return bench.palette[2]


def _palette(
    draft: Draft, position: Slot | int, documents: bool, refusal: Callable[[Any], str]
) -> dict[str, Any]:
    """Return the operators that fit at a position, by stage, and why the others do not.

    A position is a slot, or the key of a block that an operator would replace.
    """
    operators = draft.grammar.operators
    reasons: dict[str, str | None] = {}  # None for an operator that fits
    for name, reason in operator_refusals(draft, position).items():
        is_branch = operators[name] is Branch
        # A branch has no default operator: it needs rows.
        always_refused = "" if is_branch else refusal(default_operator(operators[name]))
        reasons[name] = always_refused or reason
    current = draft.find(position) if isinstance(position, int) else None
    if current is not None:
        reasons[current.cls.__name__] = None  # The block's own operator is offered too.
    fitting = [name for name, reason in reasons.items() if reason is None]
    targets = _targets(draft, fitting)
    groups = [
        {
            "title": GRAMMAR_WORDS[draft.grammar][0][stage],
            "stage": stage,
            "rows": [
                palette_entry(operators[name], current, targets[name])
                for name in fitting
                if stage_of(operators[name]) == stage
            ],
        }
        for stage in _stage_order(draft, position, documents)
    ]
    others: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason:
            title = tr(title_of(operators[name]))
            prefix = f"“{title}” "
            if reason.startswith(prefix):
                why = reason.removeprefix(prefix)
            else:
                why = tr("then {reason}", reason=reason)
            others.setdefault(why, []).append(title)
    slot_text = ""
    if isinstance(position, Slot):
        slot_text = capitalised(_slot_words(draft, position))
    elif current is not None:
        slot_text = tr("Replace {heading}", heading=block_title(current))
    return {
        "where": slot_text,
        "count": len(fitting),
        "groups": [group for group in groups if group["rows"]],
        "more": len(reasons) - len(fitting),
        "others": [{"why": why, "titles": titles} for why, titles in others.items()],
    }


def _stage_order(draft: Draft, position: Slot | int, documents: bool) -> list[str]:
    """Return the stages in the order of the palette.

    The stages that lie between the blocks before and after the position come first, or for a block
    to be replaced its own stage.
    """
    stages = draft.grammar.stages
    if isinstance(position, int):
        replaced = draft.find(position)
        near_stages = [replaced.stage] if replaced is not None else []
    else:
        row = find_row(draft, position) or ()
        start = stages.index(row[position.index - 1].stage) if position.index else 0
        end = (
            stages.index(row[position.index].stage)
            if position.index < len(row)
            else len(stages) - 1
        )
        near_stages = list(stages[start : end + 1])
    ordered = [*near_stages, *(stage for stage in stages if stage not in near_stages)]
    if documents or near_stages == ["graph"]:
        return ordered
    return sorted(ordered, key=lambda stage: stage == "graph")  # last; the others keep their order


def _targets(draft: Draft, names: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """Return the slots and blocks to which each operator may be dragged.

    Operators with equal `_fit_properties` fit at the same positions, which are computed once.
    """
    operators: Mapping[str, type] = draft.grammar.operators
    targets: dict[Any, dict[str, list[Any]]] = {}
    targets_by_name = {}
    for name in names:
        properties = _fit_properties(operators[name])
        if properties not in targets:
            targets[properties] = {
                "slots": [str(slot) for slot in fitting_slots(draft, name)],
                "bricks": list(replaceable_bricks(draft, name)),
            }
        targets_by_name[name] = targets[properties]
    return targets_by_name


@cache
def _fit_properties(cls: type) -> tuple[Any, ...]:
    """Return the properties that decide where an operator fits.

    An operator with rows of its own (`lines` are the names of its rows) shares them with no other.
    """
    if cls is Branch or "lines" in vars(cls):
        return (cls,)
    operator = cls()
    return operator.stage, operator.reads, getattr(operator, "reads_any", ()), operator.writes


def palette_entry(
    cls: type, current: Brick | None, targets: Mapping[str, list[Any]]
) -> dict[str, Any]:
    """Return an operator of the palette with its drag targets."""
    return {
        "name": cls.__name__,
        "title": tr(title_of(cls)),
        "sentence": BRANCH_SENTENCE if cls is Branch else operator_sentence(cls()),
        "term": paper_term(cls.__name__) if cls in RETRIEVAL_GRAMMAR.operators.values() else "",
        "about": operator_details(cls),
        "current": current is not None and current.cls is cls,
        **targets,
    }


@cache
def operator_details(cls: type) -> dict[str, Any]:
    """Return the details of an operator: description, inputs, outputs, and methods that use it.

    The description is the docstring of its class up to the example.
    """
    if cls is Branch:
        return {
            "text": [BRANCH_ABOUT],
            "reads": "hops",
            "writes": NO_OUTPUT_TEXTS[RETRIEVAL_GRAMMAR],
            "used": _usage_text(cls),
        }
    paragraphs = [
        " ".join(part.split()).replace("`", "")
        for part in (inspect.getdoc(cls) or "").split(">>>")[0].split("\n\n")
    ]
    operator = cls()
    if ". " not in paragraphs[0]:
        # This inserts the values of the parameters that the sentence names.
        paragraphs[0] = operator_sentence(operator)
    alternatives = getattr(operator, "reads_any", ())
    inputs = [*operator.reads]
    if alternatives:
        inputs.append(tr(" or ").join(alternatives))
    is_of_build = cls in BUILD_GRAMMAR.operators.values()
    no_output = NO_OUTPUT_TEXTS[BUILD_GRAMMAR if is_of_build else RETRIEVAL_GRAMMAR]
    return {
        "text": [part for part in paragraphs if part],
        "reads": ", ".join(inputs) or NO_INPUT_TEXT,
        "writes": ", ".join(operator.writes) or no_output,
        "used": _usage_text(cls),
    }


def _usage_text(cls: type[Any]) -> str:
    """Return the first few published methods, or kinds of graph, that use an operator."""
    if cls in BUILD_GRAMMAR.operators.values():
        kinds = [build.graph for build in builds().values() if cls in map(type, build.line)]
        titles = [GRAPH_KIND_WORDS[kind] for kind in dict.fromkeys(kinds)]
    else:
        titles = [
            method.name
            for method in published_methods().values()
            if cls in map(type, method.line.iter_operators())
        ]
    text = ", ".join(titles[:MAX_SHOWN_USES])
    if len(titles) > MAX_SHOWN_USES:
        text += tr(" and {more} more", more=len(titles) - MAX_SHOWN_USES)
    return text
