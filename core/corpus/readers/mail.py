"""Reader of mails (eml): the main header lines and the text, without attachments."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from core.corpus.document import Document, utf8_text
from core.corpus.readers.html import read_html
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Note,
    ReadingOptions,
    count_with_noun,
    list_text,
    verb_of_number,
)
from core.corpus.readers.text import file_stem
from core.errors import BadInput, shorten
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_NAMED_ATTACHMENTS = 5  # attachments named in a sentence


def read_mail(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a mail as one document, with its subject as title.

    From, To, Cc, Date and Subject each take a line; the text follows. If there is no plain text,
    that of the HTML part is taken.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on attachments that are left out.
    options : not used; a parameter of all readers.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is no mail or holds no text.
    """
    message = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(data)
    if not data.strip():
        raise BadInput(f"{name} is empty.")
    if not any(message.get(key) for key in SHOWN_HEADERS):
        raise BadInput(f"{name} is empty, or no mail (eml).")
    lines = []
    for key in SHOWN_HEADERS:
        value = _header(name, message, key, note)
        if value:
            lines.append(f"{key}: {value}")
    text = _text(name, message, watch, note)
    _note_attachments(name, message, note)
    if not text.strip():
        note(f"{name} holds no text beside its head.")
    whole_text = "\n".join([*lines, "", text]).rstrip()
    title = _header(name, message, "Subject") or file_stem(name)
    return [Document(name, whole_text, title, name)]


def _note_attachments(name: str, message: EmailMessage, note: Note) -> None:
    """Report which attachments are left out."""
    names = []
    for part in message.iter_attachments() if message.is_multipart() else ():
        names.append(shorten(utf8_text(part.get_filename() or part.get_content_type()), 40))
    if not names:
        return
    shown_names = names[:MAX_NAMED_ATTACHMENTS]
    if len(names) > MAX_NAMED_ATTACHMENTS:
        shown_names.append(f"{len(names) - MAX_NAMED_ATTACHMENTS:,} more")
    note(
        f"{name}: {count_with_noun(len(names), 'attachment')} {verb_of_number(len(names))} "
        f"left out: {list_text(shown_names)}."
    )


def _header(name: str, message: EmailMessage, key: str, note: Note = ignore_note) -> str:
    """Return a header on one line; empty if missing or malformed."""
    try:
        return " ".join(utf8_text(str(message.get(key, ""))).split())
    except Exception:  # the library raises many kinds of errors on malformed headers
        note(f"{name}: the line “{key}” of its head cannot be read and is left out.")
        return ""


def _text(name: str, message: EmailMessage, watch: Watch, note: Note) -> str:
    """Return the text of a mail, with line feeds as line ends."""
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    try:
        text = body.get_content()
    except (LookupError, UnicodeError):  # an unknown encoding
        charset = shorten(str(body.get_content_charset()), 40)
        note(
            f"{name} is in the encoding “{charset}”, which is not known; letters beyond ASCII "
            "are shown as �."
        )
        data = body.get_payload(decode=True)
        text = data.decode("ascii", "replace") if isinstance(data, bytes) else ""
    if body.get_content_type() == "text/html":
        try:
            return read_html(name, text.encode("utf-8", "replace"), watch, note)[0].text
        except BadInput:
            return ""
    return utf8_text(text).replace("\r\n", "\n").replace("\r", "\n").strip()
