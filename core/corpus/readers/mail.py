"""Reader of mails (eml): header lines and text, with attachments named."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from core.corpus.document import Document, sound
from core.corpus.readers.html import html
from core.corpus.readers.options import USUAL, Note, Options, are, counted, listed
from core.corpus.readers.text import stem
from core.errors import BadInput, shorten
from core.io.encoding import ignored
from core.watch import NO_WATCH, Watch

SHOWN = ("From", "To", "Cc", "Date", "Subject")
NAMED = 5  # attachments named in a sentence


def mail(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """Read a mail as one document, with its subject as title.

    From, To, Cc, Date and Subject each take a line; the text follows. If there is no plain text,
    that of the HTML part is taken. `note` receives the attachments that are left out. Raises
    BadInput if it is no mail or holds no text.
    """
    message = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(data)
    if not any(message.get(key) for key in SHOWN):
        raise BadInput(
            f"{name} is empty, or no mail (eml)." if data.strip() else f"{name} is empty."
        )
    about = [f"{key}: {value}" for key in SHOWN if (value := _header(name, message, key, note))]
    text = _text(name, message, watch, note)
    parts = list(message.iter_attachments()) if message.is_multipart() else []
    attached = [
        shorten(sound(part.get_filename() or part.get_content_type()), 40) for part in parts
    ]
    if attached:
        shown = [
            *attached[:NAMED],
            *([f"{len(attached) - NAMED:,} more"] if len(attached) > NAMED else []),
        ]
        note(
            f"{name}: {counted(len(attached), 'attachment')} {are(len(attached))} left out: "
            f"{listed(shown)}."
        )
    if not text.strip():
        note(f"{name} holds no text beside its head.")
    return [
        Document(
            name,
            "\n".join([*about, "", text]).rstrip(),
            _header(name, message, "Subject") or stem(name),
            name,
        )
    ]


def _header(name: str, message: EmailMessage, key: str, note: Note = ignored) -> str:
    try:
        return " ".join(sound(str(message.get(key, ""))).split())
    except Exception:  # the library raises many kinds of errors on malformed headers
        note(f"{name}: the line “{key}” of its head cannot be read and is left out.")
        return ""


def _text(name: str, message: EmailMessage, watch: Watch, note: Note) -> str:
    """Return the text of a mail, with line feeds as line ends."""
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = part.get_content()
    except (LookupError, UnicodeError):  # an unknown encoding
        known = shorten(str(part.get_content_charset()), 40)
        note(
            f"{name} is in the encoding “{known}”, which is not known; letters beyond ASCII "
            "are shown as �."
        )
        data = part.get_payload(decode=True)
        text = data.decode("ascii", "replace") if isinstance(data, bytes) else ""
    if part.get_content_type() == "text/html":
        try:
            return html(name, text.encode("utf-8", "replace"), watch, note)[0].text
        except BadInput:
            return ""
    return sound(text).replace("\r\n", "\n").replace("\r", "\n").strip()
