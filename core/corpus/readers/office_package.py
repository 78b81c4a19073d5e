"""Conversion of Office files to the form that libraries can read.

The files are docx, xlsx and pptx. Such a file, or package, is a zip of XML parts. Word and Excel
also save “Strict Open XML”, in which every namespace has another name. They also accept relations
between parts that lead nowhere, such as that of a removed picture. The libraries refuse both.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from typing import Any
from urllib.parse import unquote

STRICT_NAMESPACE = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([A-Za-z/]+)")
RENAMED_NAMESPACES = {  # words in namespaces that differ in more than their beginning
    b"extendedProperties": b"extended-properties",
    b"customProperties": b"custom-properties",
}
RELATIONS_SUFFIX = ".rels"
MARKUP_SUFFIXES = (".xml", RELATIONS_SUFFIX, ".vml")


def readable_package(data: bytes) -> bytes:
    """Return a package without strict namespaces and without relations that lead nowhere.

    A package that has neither is returned unchanged. Raises zipfile.BadZipFile if it is no zip.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = {name.casefold() for name in package.namelist()}
        changed = {}
        for name in package.namelist():
            if name.casefold().endswith(RELATIONS_SUFFIX):
                before = package.read(name)
                after = _without_dangling(name, STRICT_NAMESPACE.sub(_usual_uri, before), names)
                if after != before:
                    changed[name] = after
        if not changed:
            return data
        return _rewrite(package, changed)


def parse_xml(data: bytes) -> Any:
    """Return the root element of an XML part, parsed without external entities."""
    from lxml import etree

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False))


def _rewrite(package: zipfile.ZipFile, changes: dict[str, bytes]) -> bytes:
    """Return a package with some parts changed, without strict namespaces."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
        for part in package.infolist():
            content = changes.get(part.filename)
            if content is None:
                content = package.read(part)
                if part.filename.casefold().endswith(MARKUP_SUFFIXES):
                    content = STRICT_NAMESPACE.sub(_usual_uri, content)
            copy.writestr(part.filename, content)
    return out.getvalue()


def _usual_uri(match: re.Match[bytes]) -> bytes:
    """Return the usual namespace for a strict one."""
    names = match[2].split(b"/")
    path = b"/".join(RENAMED_NAMESPACES.get(name, name) for name in names)
    return b"http://schemas.openxmlformats.org/%s/2006/%s" % (match[1], path)


def _without_dangling(name: str, relations: bytes, names: set[str]) -> bytes:
    """Return a part with relations without those whose target is missing."""
    from lxml import etree

    try:
        root = parse_xml(relations)
    except etree.XMLSyntaxError:
        return relations  # the library that reads it reports the fault
    folder = posixpath.dirname(posixpath.dirname(name))
    dangling = [element for element in root if not _has_target(element, folder, names)]
    if not dangling:
        return relations
    for element in dangling:
        root.remove(element)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def _has_target(relation: Any, folder: str, names: set[str]) -> bool:
    """Return whether the target of a relation exists or is external.

    `folder` is that of the part to which the relation belongs; `names` are casefolded.
    """
    if relation.get("TargetMode") == "External":
        return True
    target = (relation.get("Target") or "").partition("#")[0]
    if not target:
        return False
    path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return path.casefold() in names or unquote(path).casefold() in names
