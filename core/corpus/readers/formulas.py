"""Formulas of HTML (MathML) and Office (OMML) as one line of text: “12^2”, “(a+b)/c”."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.corpus.readers.raised_text import bracketed, write_fraction

MATHML_LEFT_OUT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
SPACED_OPERATORS = frozenset("=<>≤≥≠≈→⇒∈±")
OFFICE_LEFT_OUT = frozenset({"phant", "ctrlPr", "rPr", "del", "instrText", "delText"})
MAX_FORMULA_DEPTH = 200  # nested elements of an Office formula; deeper ones are read as plain text


def _power(base: str, above: str) -> str:
    return f"{bracketed(base)}^{bracketed(above)}" if above.strip() else base


def _index(base: str, below: str) -> str:
    return f"{base}_{bracketed(below)}" if below.strip() else base


def _sub_sup(base: str, below: str, above: str) -> str:
    return _index(base, below) + (f"^{bracketed(above)}" if above.strip() else "")


def _root(term: str, degree: str = "") -> str:
    return f"{degree.strip()}√{bracketed(term)}"


def _pre_scripts(below: str, above: str, base: str) -> str:
    return _sub_sup("", below, above) + base


def _function(name: str, argument: str) -> str:
    return f"{name} {argument}"


# functions that write a MathML element, by its name and number of parts
MATHML_WRITERS: dict[tuple[str, int], Callable[..., str]] = {
    ("mfrac", 2): write_fraction,
    ("msup", 2): _power,
    ("mover", 2): _power,
    ("msub", 2): _index,
    ("munder", 2): _index,
    ("msubsup", 3): _sub_sup,
    ("munderover", 3): _sub_sup,
    ("mroot", 2): _root,
}
# functions that write an Office element, by its name, each with the names of the parts to write
OFFICE_WRITERS: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "f": (write_fraction, ("num", "den")),
    "sSup": (_power, ("e", "sup")),
    "sSub": (_index, ("e", "sub")),
    "sSubSup": (_sub_sup, ("e", "sub", "sup")),
    "sPre": (_pre_scripts, ("sub", "sup", "e")),
    "rad": (_root, ("e", "deg")),
    "limLow": (_index, ("e", "lim")),
    "limUpp": (_power, ("e", "lim")),
    "func": (_function, ("fName", "e")),
}


def write_mathml(name: str, parts: Sequence[str]) -> str:
    """Write a MathML element, given the texts of its parts.

    Parameters
    ----------
    name : name of the element without a namespace.
    parts : the written elements within it; for an element without any, its own text.

    Returns
    -------
    The element on one line.

    Examples
    --------
    >>> from core.corpus.readers.formulas import write_mathml
    >>> write_mathml("mfrac", ["3", "4"]), write_mathml("msup", ["12", "2"])
    ('3/4', '12^2')
    """
    if name in MATHML_LEFT_OUT:
        return ""
    writer = MATHML_WRITERS.get((name, len(parts)))
    if writer is not None:
        return writer(*parts)
    if name == "msqrt":
        return _root("".join(parts))
    if name == "mtable":
        return f"[{'; '.join(parts)}]"
    if name == "mtr":
        return ", ".join(parts)
    if name == "mo":
        return _operator("".join(parts))
    return "".join(parts)


def _operator(sign: str) -> str:
    """Write an operator without the invisible ones, with blanks around a relation."""
    sign = sign.strip(" \u2061\u2062\u2063\u2064")
    return f" {sign} " if sign in SPACED_OPERATORS else sign


def write_office_formula(element: Any, depth: int = 0) -> str:
    """Write an Office formula, an element “oMath” or one within it.

    Parameters
    ----------
    element : the element of lxml.
    depth : number of the formula's elements around this one.

    Returns
    -------
    The element on one line.
    """
    name = _name(element)
    if name in OFFICE_LEFT_OUT:
        return ""
    if name == "t":
        return element.text or ""
    if depth > MAX_FORMULA_DEPTH:
        return "".join(one.text or "" for one in element.iter("{*}t"))
    if name in OFFICE_WRITERS:
        writer, roles = OFFICE_WRITERS[name]
        return writer(*(_write_part(element, role, depth) for role in roles))
    if name in OFFICE_LIST_WRITERS:
        return OFFICE_LIST_WRITERS[name](element, depth)
    return "".join(
        write_office_formula(child, depth + 1) for child in element if isinstance(child.tag, str)
    )


def _write_part(element: Any, role: str, depth: int) -> str:
    """Write the first child with a name; empty if there is none."""
    child = _child(element, role)
    return "" if child is None else write_office_formula(child, depth + 1)


def _write_each(element: Any, role: str, depth: int) -> Iterator[str]:
    """Write the children with a name, one by one."""
    for child in element:
        if _name(child) == role:
            yield write_office_formula(child, depth + 1)


def _matrix(element: Any, depth: int) -> str:
    return f"[{'; '.join(_write_each(element, 'mr', depth))}]"


def _matrix_row(element: Any, depth: int) -> str:
    return ", ".join(_write_each(element, "e", depth))


def _equations(element: Any, depth: int) -> str:
    return "; ".join(_write_each(element, "e", depth))


def _sum(element: Any, depth: int) -> str:
    """Write a sum, a product or an integral with its bounds."""
    sign = _value(element, "naryPr", "chr", "∫")
    below, above, term = (_write_part(element, role, depth) for role in ("sub", "sup", "e"))
    return f"{_sub_sup(sign, below, above)} {term}"


def _brackets(element: Any, depth: int) -> str:
    """Write terms between brackets."""
    opening, closing = (
        _value(element, "dPr", role, sign) for role, sign in (("begChr", "("), ("endChr", ")"))
    )
    separator = _value(element, "dPr", "sepChr", "|")
    terms = separator.join(_write_each(element, "e", depth))
    return f"{opening}{terms}{closing}"


OFFICE_LIST_WRITERS: dict[str, Callable[[Any, int], str]] = {
    "d": _brackets,
    "nary": _sum,
    "m": _matrix,
    "mr": _matrix_row,
    "eqArr": _equations,
}


def _value(element: Any, properties: str, role: str, default: str) -> str:
    """Return a sign from the properties of a formula; `default` if they state none."""
    parent = _child(element, properties)
    child = None if parent is None else _child(parent, role)
    if child is None:
        return default
    return next((value for key, value in child.attrib.items() if key.endswith("val")), "")


def _child(element: Any, name: str) -> Any:
    return next((one for one in element if _name(one) == name), None)


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
