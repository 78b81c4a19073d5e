"""Formulas of HTML (MathML) and Office as one line of text: `12^2`, `(a+b)/c`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.corpus.readers.raised_text import bracketed, write_fraction

MATHML_LEFT_OUT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
SPACED_OPERATORS = frozenset("=<>≤≥≠≈→⇒∈±")
OFFICE_LEFT_OUT = frozenset({"phant", "ctrlPr", "rPr", "del", "instrText", "delText"})
MAX_FORMULA_DEPTH = 200  # nested elements of an Office formula; a deeper one is taken as plain text


def _power(base: str, above: str) -> str:
    return f"{bracketed(base)}^{bracketed(above)}" if above.strip() else base


def _index(base: str, below: str) -> str:
    return f"{base}_{bracketed(below)}" if below.strip() else base


def _both(base: str, below: str, above: str) -> str:
    return _index(base, below) + (f"^{bracketed(above)}" if above.strip() else "")


def _root(term: str, degree: str = "") -> str:
    return f"{degree.strip()}√{bracketed(term)}"


def write_mathml(name: str, parts: Sequence[str]) -> str:
    """Write a MathML element whose parts are written already.

    Parameters
    ----------
    name : of the element, without a namespace.
    parts : the texts of the elements within it; for an element without any, its own text.

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
    has_two_parts = len(parts) == 2
    if name == "mfrac" and has_two_parts:
        return write_fraction(*parts)
    if name in ("msup", "mover") and has_two_parts:
        return _power(*parts)
    if name in ("msub", "munder") and has_two_parts:
        return _index(*parts)
    if name in ("msubsup", "munderover") and len(parts) == 3:
        return _both(*parts)
    if name == "msqrt":
        return _root("".join(parts))
    if name == "mroot" and has_two_parts:
        return _root(*parts)
    if name == "mtable":
        return f"[{'; '.join(parts)}]"
    if name == "mtr":
        return ", ".join(parts)
    if name == "mo":
        sign = "".join(parts).strip(" \u2061\u2062\u2063\u2064")
        return f" {sign} " if sign in SPACED_OPERATORS else sign
    return "".join(parts)


def write_office_formula(element: Any, depth: int = 0) -> str:
    """Write an Office formula, an element “oMath” or one within it.

    Parameters
    ----------
    element : of lxml.
    depth : number of the formula's elements around it.

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

    def part(role: str) -> str:
        held = _child(element, role)
        return "" if held is None else write_office_formula(held, depth + 1)

    if name == "d":
        return _delimited(element, depth)
    if name == "nary":
        sign = _value(element, "naryPr", "chr", "∫")
        return f"{_both(sign, part('sub'), part('sup'))} {part('e')}"
    if name == "m":
        return f"[{'; '.join(write_office_formula(one, depth + 1) for one in element if _name(one) == 'mr')}]"
    if name in ("mr", "eqArr"):
        between = ", " if name == "mr" else "; "
        return between.join(
            write_office_formula(one, depth + 1) for one in element if _name(one) == "e"
        )
    simple = {
        "f": lambda: write_fraction(part("num"), part("den")),
        "sSup": lambda: _power(part("e"), part("sup")),
        "sSub": lambda: _index(part("e"), part("sub")),
        "sSubSup": lambda: _both(part("e"), part("sub"), part("sup")),
        "sPre": lambda: _both("", part("sub"), part("sup")) + part("e"),
        "rad": lambda: _root(part("e"), part("deg")),
        "limLow": lambda: _index(part("e"), part("lim")),
        "limUpp": lambda: _power(part("e"), part("lim")),
        "func": lambda: f"{part('fName')} {part('e')}",
    }
    if name in simple:
        return simple[name]()
    return "".join(
        write_office_formula(one, depth + 1) for one in element if isinstance(one.tag, str)
    )


def _delimited(element: Any, depth: int) -> str:
    """Write terms between brackets."""
    opening, closing = (
        _value(element, "dPr", role, sign) for role, sign in (("begChr", "("), ("endChr", ")"))
    )
    between = _value(element, "dPr", "sepChr", "|")
    terms = between.join(
        write_office_formula(one, depth + 1) for one in element if _name(one) == "e"
    )
    return f"{opening}{terms}{closing}"


def _value(element: Any, properties: str, role: str, usual: str) -> str:
    """Return a sign from a formula's properties, or the usual one if it has none."""
    held = _child(element, properties)
    found = None if held is None else _child(held, role)
    if found is None:
        return usual
    return next((value for key, value in found.attrib.items() if key.endswith("val")), "")


def _child(element: Any, name: str) -> Any:
    return next((one for one in element if _name(one) == name), None)


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
