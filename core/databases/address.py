"""Addresses of SPARQL endpoints and Bolt databases, and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import BadInput, shorten, suggest_name
from core.models.api_keys import read_key_variable, saved_key
from core.models.hosts import check_host
from core.sharing import shared

SPARQL = "sparql"
BOLT = "bolt"
WEB_SCHEMES = ("http", "https")
BOLT_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
ADDRESS_EXAMPLES = "sparql+https://example.org/sparql, or bolt://localhost:7687"
KEY_ADVICE = 'export HOPSCOPE_KEY_MINE="{url} name:password", and name that variable'


@dataclass(frozen=True)
class Address:
    """The address of a database.

    Parameters
    ----------
    kind : `SPARQL` or `BOLT`.
    url : the address to which the driver connects.
    title : name of the database in messages.
    database : name of the database, if a Bolt server has several.
    """

    kind: str
    url: str
    title: str
    database: str = ""

    def key(self, variable: str = "") -> str:
        """Return the key of the database, `name:password` or a token. Empty if there is none.

        `variable` names the environment variable with the key, HOPSCOPE_KEY_... If it is empty, the
        key is read from the file of keys. Raises ModelUnavailable if the variable holds no key for
        this address.
        """
        return (
            read_key_variable(variable, self.url, self.title) if variable else saved_key(self.url)
        )

    @property
    def key_advice(self) -> str:
        """Advice for a database that asks for a name and password."""
        return KEY_ADVICE.format(url=self.url.partition("?")[0])


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database, not a path."""
    return "://" in text


def address_of(text: str) -> Address:
    """Parse the address of a database; http:// and https:// are SPARQL endpoints.

    Raises BadInput if it is no address or has a password, and BadParameter if Hopscope is shared
    and the host is not allowed (`core.models.hosts`).

    >>> from core.databases.address import address_of
    >>> address_of("sparql+https://example.org/sparql")
    Address(kind='sparql', url='https://example.org/sparql', title='example.org/sparql',
    database='')
    >>> address_of("bolt://localhost:7687/films").database
    'films'
    """
    text = text.strip()
    try:
        parts = urlsplit(text.removeprefix("sparql+"))
        host = parts.hostname or ""
        has_secret = parts.username is not None or parts.password is not None
        _ = parts.port  # raises ValueError if it is no number
    except ValueError:
        without_secret = shorten(text.rpartition("@")[2])
        raise BadInput(
            f"“{without_secret}” is no address of a database, such as {ADDRESS_EXAMPLES}."
        ) from None
    if has_secret:
        raise BadInput(
            "An address holds no name and no password: others may see it. Put them into a "
            "variable, as the docs on graphs say."
        )
    if parts.scheme in WEB_SCHEMES:
        kind = SPARQL
    elif parts.scheme in BOLT_SCHEMES and not text.startswith("sparql+"):
        kind = BOLT
    else:
        schemes = ("sparql+https", "sparql+http", *BOLT_SCHEMES)
        hint = suggest_name(text.partition("://")[0], schemes)
        raise BadInput(f"A database is named as {ADDRESS_EXAMPLES}; not “{shorten(text)}”.{hint}")
    if not host:
        raise BadInput(f"This address names no host; it should be like {ADDRESS_EXAMPLES}.")
    url = text.removeprefix("sparql+").rstrip("/").partition("#")[0]
    check_host(url if kind == SPARQL else f"http://{parts.netloc}/")
    if kind == BOLT and shared() and parts.scheme.startswith("neo4j"):
        raise BadInput(
            "A neo4j:// server says itself which computers answer; where Hopscope is shared, "
            "use bolt:// or bolt+s://."
        )
    if kind == SPARQL:
        return Address(kind, url, parts.netloc + parts.path.rstrip("/"))
    return Address(kind, f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.path.strip("/"))
