"""Grammars for llama.cpp (GBNF) that restrict a reply to given texts.

The texts may be many, such as paths.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Mapping, Sequence
from itertools import count, groupby
from operator import itemgetter
from typing import Any


def choice_grammar(schema: Mapping[str, Any] | None) -> str | None:
    """Return the grammar of a schema that allows one of several texts.

    The schema is that of an object with one required property, whose value is one of the texts. The
    result is None for any other schema. llama.cpp's own grammar has one alternative per text, and
    compares every token with each of them. With a trie, decoding takes the same time for any number
    of texts. Graph-constrained Reasoning decodes along a trie of paths.
    """
    if schema is None:
        return None
    properties = schema.get("properties", {})
    if len(properties) != 1 or list(schema.get("required", ())) != list(properties):
        return None
    ((name, value),) = properties.items()
    texts = value.get("enum", ()) if isinstance(value, Mapping) else ()
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    root_rule = f"root ::= {_quote('{' + json.dumps(name) + ': ')} text {_quote('}')}\n"
    return root_rule + trie_rules([json.dumps(text, ensure_ascii=False) for text in texts], "text")


def trie_rules(texts: Sequence[str], name: str) -> str:
    """Return the rules that generate exactly some texts, as a trie.

    Parameters
    ----------
    texts : the texts; equal ones count once.
    name : name of the first rule. The others are called name-1, name-2 and so on.

    Returns
    -------
    Rules of a GBNF grammar, one per line.
    """
    rules = []
    numbers = count(1)
    # Rules to write, each with its sorted texts and the length of their common prefix.
    pending = [(name, sorted(set(texts)), 0)]
    while pending:
        rule, rule_texts, offset = pending.pop()
        alternatives = []
        # The letter is empty for a text that ends here.
        for letter, group in groupby(rule_texts, key=itemgetter(slice(offset, offset + 1))):
            members = list(group)
            # The texts are sorted, so all have the prefix of the first and the last.
            common = len(os.path.commonprefix([members[0], members[-1]]))
            literal = _quote(members[0][offset:common])
            if letter and len(members) > 1:
                inner = f"{name}-{next(numbers)}"
                pending.append((inner, members, common))
                literal += f" {inner}"
            alternatives.append(literal)
        rules.append(f"{rule} ::= {' | '.join(alternatives)}")
    return "\n".join(rules)


def _quote(text: str) -> str:
    """Format a literal of the grammar."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
