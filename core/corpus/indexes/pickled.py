"""What a pickled file holds, as plain data: its opcodes are read one by one, and nothing of it is imported, made or called."""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput, shorten

VALUES = {  # opcodes that put down the value that they carry
    *(
        "INT",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG",
        "LONG1",
        "LONG4",
        "FLOAT",
        "BINFLOAT",
        "UNICODE",
        "BINUNICODE",
        "SHORT_BINUNICODE",
    ),
    *(
        "BINUNICODE8",
        "BINBYTES",
        "SHORT_BINBYTES",
        "BINBYTES8",
        "STRING",
        "BINSTRING",
        "SHORT_BINSTRING",
    ),
}
MOST_OPCODES = 50_000_000
MARK = object()


@dataclass(eq=False)
class Thing:
    """An object that the file describes: the name of what would make it, what that would be given, and its state. It is never made."""

    name: str
    given: Any = ()
    state: Any = None


def plain(data: bytes, file: str) -> Any:
    """The numbers, texts, lists, tuples and dicts of a pickled file; what is no such value is a `Thing`, which says by name what it would
    be. No class is looked up and no function called, whatever the file asks for. Raises BadInput where it is damaged, or has opcodes that
    plain data does not need.

    >>> import pickle
    >>> from core.corpus.indexes.pickled import plain
    >>> plain(pickle.dumps({"a": [1, None, True], "b": print}), "x.pkl")
    {'a': [1, None, True], 'b': Thing(name='builtins.print', given=(), state=None)}
    """
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    try:
        for number, (opcode, value, _) in enumerate(pickletools.genops(data)):
            if number > MOST_OPCODES:
                raise BadInput(
                    f"{file} has more than {MOST_OPCODES:,} opcodes, which is more than can be read here."
                )
            name = opcode.name
            if name == "STOP":
                return stack.pop()
            if name in VALUES:
                stack.append(value)
            elif name in ("MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT"):
                memo[len(memo) if value is None else value] = stack[-1]
            elif name in ("BINGET", "LONG_BINGET", "GET"):
                stack.append(memo[value])
            elif name == "GLOBAL":
                stack.append(Thing(str(value).replace(" ", ".", 1)))
            elif name in STEPS:
                STEPS[name](stack)
            elif name not in ("PROTO", "FRAME"):
                raise BadInput(
                    f"{file} has an opcode {name}, which plain data does not need; it is not read further."
                )
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        UnicodeError,
    ) as error:
        raise BadInput(f"{file} is damaged or no pickled file ({shorten(error, 80)}).") from None
    raise BadInput(f"{file} ends before its end.")


def _since_mark(stack: list[Any]) -> list[Any]:
    """What lies above the last mark, which is taken off with it."""
    at = next((at for at in range(len(stack) - 1, -1, -1) if stack[at] is MARK), -1)
    if at < 0:
        raise ValueError("no mark")
    found = stack[at + 1 :]
    del stack[at:]
    return found


def _items(target: Any, values: list[Any]) -> None:
    if not isinstance(target, (dict, Thing)):
        raise TypeError("items of what is no dict")
    if isinstance(target, dict):
        target.update(zip(values[::2], values[1::2]))


def _extend(target: Any, values: list[Any]) -> None:
    if not isinstance(target, (list, Thing)):
        raise TypeError("items of what is no list")
    if isinstance(target, list):
        target.extend(values)


def _reduce(stack: list[Any]) -> None:
    given, maker = stack.pop(), stack.pop()
    stack.append(Thing(maker.name, given))


def _build(stack: list[Any]) -> None:
    state = stack.pop()
    if isinstance(stack[-1], Thing):
        stack[-1].state = state


def _set_item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    _items(stack[-1], [key, value])


def _append(stack: list[Any]) -> None:
    value = stack.pop()
    _extend(stack[-1], [value])


def _set_items(stack: list[Any]) -> None:
    values = _since_mark(stack)
    _items(stack[-1], values)


def _appends(stack: list[Any]) -> None:
    values = _since_mark(stack)
    _extend(stack[-1], values)


def _dict(stack: list[Any]) -> None:
    values = _since_mark(stack)
    stack.append(dict(zip(values[::2], values[1::2])))


def _tuple_of(count: int) -> Callable[[list[Any]], None]:
    def take(stack: list[Any]) -> None:
        values = tuple(stack[len(stack) - count :])
        if len(values) < count:
            raise IndexError("nothing there")
        del stack[len(stack) - count :]
        stack.append(values)

    return take


def _stack_global(stack: list[Any]) -> None:
    name, module = stack.pop(), stack.pop()
    stack.append(Thing(f"{module}.{name}"))


STEPS: dict[str, Callable[[list[Any]], Any]] = {
    "MARK": lambda stack: stack.append(MARK),
    "POP": lambda stack: stack.pop(),
    "POP_MARK": _since_mark,
    "NONE": lambda stack: stack.append(None),
    "NEWTRUE": lambda stack: stack.append(True),
    "NEWFALSE": lambda stack: stack.append(False),
    "EMPTY_LIST": lambda stack: stack.append([]),
    "EMPTY_TUPLE": lambda stack: stack.append(()),
    "EMPTY_DICT": lambda stack: stack.append({}),
    "LIST": lambda stack: stack.append(_since_mark(stack)),
    "TUPLE": lambda stack: stack.append(tuple(_since_mark(stack))),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "DICT": _dict,
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _reduce,
    "NEWOBJ": _reduce,
    "BUILD": _build,
}
