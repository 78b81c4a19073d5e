"""Report on all that an installation brings: weaknesses, licences, digests, and a list of its parts.

    make supply-chain

`sbom.cdx.json` lists them in the form of CycloneDX, with the weights that Hopscope fetches and the
data that ship. The exit code is 1 if a distribution has a known weakness or a licence that is not
allowed, or a file of weights is not the declared one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from hashlib import file_digest
from importlib.metadata import Distribution, distributions, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core.io.carried_weights import file_sha256, listed_weights
from core.io.data_folders import listed_data
from core.io.home import ROOT
from core.models.backends import Llama
from core.models.declarations import shipped_declarations
from core.models.weights import weights_folder

RULES = tomllib.loads((ROOT / "tests" / "supply_chain.toml").read_text("utf-8"))
REPORT_FILE = ROOT / "sbom.cdx.json"
TOOLS = ROOT / ".venv-supply" / "bin"
AUDIT_SOURCE = "https://pypi.org/pypi/{}/{}/json"  # what pip-audit asks
BINARY_SUFFIXES = (".gz", ".safetensors", ".webp", ".png", ".zip", ".parquet", ".arrow", ".mo")


def licences_of(distribution: Distribution) -> list[str]:
    """Licences of a distribution: of its expression, else its classifiers, else its free text."""
    about = distribution.metadata
    if expression := about.get("License-Expression"):
        return [expression]
    classified = [
        value.rpartition(" :: ")[2]
        for value in about.get_all("Classifier") or ()
        if value.startswith("License :: ")
    ]
    text = (about.get("License") or "").strip().splitlines()
    words = classified or text[:1] or ["unknown"]
    return [RULES["words"].get(word.lower(), word) for word in words]


def is_allowed(licence: str) -> bool:
    """Return whether all parts of a licence are on the list, or one of pure alternatives.

    >>> [is_allowed(one) for one in ("MPL-2.0 AND (Apache-2.0 OR MIT)", "MIT OR GPL-2.0-only", "GPL-2.0-only")]
    [True, True, False]
    """
    parts = set(re.split(r"[ ()]+", licence)) - {"", "AND", "OR", "WITH"}
    known = parts & set(RULES["allowed"])
    return known == parts or bool(known and " OR " in licence and " AND " not in licence)


def reason_for(name: str) -> str:
    """Return the reason to accept a distribution of another licence; empty without one."""
    return next(
        (reason for pattern, reason in RULES["accepted"].items() if fnmatch(name, pattern)), ""
    )


def required(installed: dict[str, Distribution]) -> set[str]:
    """Names of the distributions that `pip install hopscope` leads to, among those installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in project["dependencies"]]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if name in installed and (name, extra) not in found:
                found.add((name, extra))
                inner = map(Requirement, installed[name].requires or ())
                waiting += [
                    one
                    for one in inner
                    if one.marker is None or one.marker.evaluate({"extra": extra})
                ]
    return {name for name, _ in found}


def licence_faults(installed: dict[str, Distribution], needed: set[str]) -> list[str]:
    """Print the licences that are not on the list, and return a sentence for each not accepted."""
    faults = []
    for name, distribution in sorted(installed.items()):
        others = [one for one in licences_of(distribution) if not is_allowed(one)]
        if not others:
            continue
        where = "pip install hopscope" if name in needed else "extras or tests"
        reason = reason_for(name)
        print(f"  {name}: {', '.join(others)} ({where}). {reason or 'NOT ALLOWED'}")
        if not reason:
            faults.append(f"{name} has the licence {', '.join(others)}, which is not allowed")
    return faults


def audit_faults() -> list[str]:
    """Run pip-audit over this environment, if its source answers."""
    address = AUDIT_SOURCE.format("streamlit", version("streamlit"))
    try:
        with urllib.request.urlopen(address, timeout=15) as answer:
            json.load(answer)["vulnerabilities"]
    except (OSError, ValueError, KeyError) as error:
        print(f"  UNKNOWN: pip-audit did not run, as its source does not answer ({error}).")
        return []
    site = sysconfig.get_path("purelib")
    command = [TOOLS / "pip-audit", "--path", site, "--format", "json", "--progress-spinner", "off"]
    result = subprocess.run(command, capture_output=True, text=True)
    try:
        rows = json.loads(result.stdout)["dependencies"]
    except ValueError:
        print(f"  pip-audit failed: {result.stderr.strip().splitlines()[-1:]}")
        return ["pip-audit failed"]
    skipped = [row["name"] for row in rows if "skip_reason" in row]
    print(f"  {len(rows) - len(skipped)} distributions asked for, {len(skipped)} unknown there.")
    return [
        f"{row['name']} {row['version']} has {weakness['id']}"
        for row in rows
        for weakness in row.get("vulns", ())
    ]


def weight_components() -> tuple[list[dict[str, Any]], list[str]]:
    """Weights that Hopscope fetches as components, and a sentence for each wrong file here."""
    components, faults = [], []
    for weights in listed_weights():
        for file, sha256 in weights.files.items():
            title = f"{weights.title}: {file}"
            components.append(component("machine-learning-model", title, sha256, weights.licence))
            for folder in weights.folders():
                if file_sha256(folder / file) != sha256:
                    faults.append(f"{folder / file} is not the declared file")
    for row in shipped_declarations().rows.values():
        if isinstance(row.settings, Llama) and row.settings.sha256:
            made = component("machine-learning-model", row.title, row.settings.sha256, row.licence)
            components.append(made)
            file = weights_folder(row.settings.file)
            if file.is_file() and file_sha256(file) != row.settings.sha256:
                faults.append(f"{file} is not the declared file")
    return components, faults


def data_components(files: Iterable[str]) -> list[dict[str, Any]]:
    """Binary files of the repository as components, with the licences of their folders."""
    rows = listed_data().items()
    components = []
    for file in files:
        if file.endswith(BINARY_SUFFIXES) and not file.startswith("tests/"):
            licences = [row.licence for name, row in rows if file.startswith(f"data/{name}/")]
            with open(ROOT / file, "rb") as stream:
                sha256 = file_digest(stream, "sha256").hexdigest()
            components.append(component("data", file, sha256, *licences))
    return components


def component(kind: str, name: str, sha256: str, *licences: str) -> dict[str, Any]:
    """A component of CycloneDX with its digest and licences."""
    told = [one for one in licences if one and one != "unknown"]
    hashes = [{"alg": "SHA-256", "content": sha256}]
    made: dict[str, Any] = {"type": kind, "name": name, "hashes": hashes}
    return made | ({"licenses": [{"expression": told[0]}]} if told else {})


def write_report(components: Sequence[dict[str, Any]]) -> int:
    """Write the list of parts, and return how many it has."""
    command = [TOOLS / "cyclonedx-py", "environment", "--output-reproducible", sys.executable]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(made.stdout)
    report["components"] += components
    REPORT_FILE.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return len(report["components"])


def main() -> int:
    """Print the report, write the list of parts, and return the exit code."""
    installed = {canonicalize_name(one.metadata["Name"]): one for one in distributions()}
    needed = required(installed)
    print(f"Licences of {len(installed)} distributions, {len(needed)} of pip install hopscope:")
    faults = licence_faults(installed, needed)
    print("Known weaknesses:")
    faults += audit_faults()
    weights, wrong = weight_components()
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    data = data_components(filter(None, listed.stdout.split("\0")))
    print(f"Digests: {len(weights)} files of weights, {len(data)} binary files of the repository.")
    print(f"{Path(REPORT_FILE).name}: {write_report([*weights, *data])} components.")
    faults += wrong
    for fault in faults:
        print(f"FAULT: {fault}.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
