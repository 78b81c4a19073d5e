"""Reader of the mock knowledge graphs of the benchmark CRAG.

CRAG (Comprehensive RAG benchmark) ships databases of five domains in the folder “cragkg”. The
triples are those of Walk&Retrieve's published code: facts of films, people and years, of football
and basketball, of artists, songs and prizes, summaries of entities, companies and prices. Errors of
that code are corrected: a drawn match has no winner, a player's jersey number is not read as a
number of seasons, all companies are read and not only the first, and a company's summary is not
read as its sector. That code also writes the text of whole objects as nodes; these are left out.
"""

from __future__ import annotations

import bz2
import csv
import json
import math
import pickle
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.graph.readers.source import Triple

# Head, relation and tail, before they become names. None and NaN make no triple.
Fact = tuple[Any, str, Any]
# In the following tables: key or column in the file -> relation.
PRICE_RELATIONS = {
    "Open": "opening_price",
    "High": "high_price",
    "Low": "low_price",
    "Close": "closing_price",
    "Volume": "trade_volume",
}
FILM_KEYS = (
    "budget id original_language original_title release_date revenue title rating length".split()
)
MATCH_RELATIONS = {
    "opponent": "has_opponent",
    "league": "has_league",
    "season": "has_season",
    "date": "played_on",
    "venue": "played_at",
    "Referee": "refereed_by",
    "Attendance": "had_attendance",
    "day": "week_day",
    "round": "round_of",
    "time": "game_time",
    "team": "has_home_team",
    "Notes": "has_notes",
}
TEAM_RELATIONS = {
    "Captain": "captain",
    "Formation": "formation",
    "Poss": "possession",
    "GF": "goals",
    "xG": "expected_goals",
}
PLAYER_RELATIONS = {
    "birthdate": "born_at",
    "school": "visited_school",
    "country": "country",
    "last_affiliation": "has_last_affiliation",
    "height": "has_height",
    "weight": "has_weight",
    "season_exp": "season_experience",
    "jersey": "jersey_number",
    "position": "nba_position",
    "rosterstatus": "rosterstatus",
    "team_name": "plays_in_team",
    "draft_year": "draft_year",
    "draft_round": "draft_round",
    "draft_number": "draft_number",
    "from_year": "first_season",
    "to_year": "last_season",
}
ARTIST_RELATIONS = {
    "country": "located_in_country",
    "birth_date": "birth_date",
    "end_date": "end_date",
}
SONG_RELATIONS = {"author": "artist", "country": "country", "date": "released_in"}
# Position in the list of a song's week -> relation.
RANK_RELATIONS = {
    0: "billboard_ranking_date",
    2: "billboard_ranking_artist",
    3: "rank_last_week",
    4: "weeks_in_chart",
    5: "top_position",
    6: "rank",
}
# Errors that reading raises if a file is damaged or has another form.
READ_ERRORS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, EOFError),
    *(ArithmeticError, RecursionError, MemoryError),
    *(sqlite3.Error, pickle.UnpicklingError, csv.Error),
)
COMPANY_RELATIONS = {
    "country": "location_country",
    "city": "location_city",
    "industry": "industry",
    "sectorKey": "sector",
}


def is_crag(folder: Path) -> bool:
    """Return whether a folder is CRAG's “cragkg” or a part of it."""
    return folder.is_dir() and any((folder / file).is_file() for file in CRAG_READERS)


def crag_triples(folder: Path, notes: list[str]) -> Iterator[Triple]:
    """Yield the triples of the files that exist, in the order of `CRAG_READERS`.

    `notes` receives a sentence on each file that is missing or cannot be read. A pickled file is
    read only if it holds plain values, since other values could run code. If there is a table of
    the same name with the suffix `.csv`, the table is read instead.

    Raises
    ------
    BadInput
        If a file is damaged.
    """
    for name, read in CRAG_READERS.items():
        file = folder / name
        table = file.with_suffix(".csv")
        if not file.is_file() and not table.is_file():
            notes.append(f"{name} is not there.")
            continue
        try:
            for head, relation, tail in read(table if table.is_file() else file):
                names = _node_name(head), _node_name(tail)
                if all(names):
                    yield names[0], _node_name(relation), names[1]
        except NotPlainError:
            notes.append(
                f"{name} is left out: it holds more than plain values, and reading those would run "
                f"code of the file. Save it as {table.name} beside it, by pandas, to have it read."
            )
        except READ_ERRORS as error:
            raise BadInput(
                f"{file} cannot be read as CRAG has it: {type(error).__name__} {error}."
            ) from None


class NotPlainError(Exception):
    """Error for a pickled file that holds objects of a class.

    Loading such objects could run code.
    """


class _PlainUnpickler(pickle.Unpickler):
    """Unpickler of texts, numbers, lists, tuples, sets and dicts only."""

    def find_class(self, module: str, name: str) -> Any:
        raise NotPlainError(f"{module}.{name}")


def _node_name(value: Any) -> str:
    """Return a value as the name of a node, empty for missing values."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, list | tuple | set):
        value = ", ".join(filter(None, map(_node_name, value)))
    return " ".join(str(value).split())


def _load_json(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def _unpickle(file: Path) -> Any:
    with open(file, "rb") as stream:
        return _PlainUnpickler(stream).load()


def _csv_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a CSV table by column.

    Raises
    ------
    NotPlainError
        If the table is pickled: pandas pickles objects of classes.
    """
    if file.suffix in (".pkl", ".pickle"):
        raise NotPlainError(file.name)
    with open(file, encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _sqlitedict_items(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a dict that sqlitedict wrote into SQLite.

    sqlitedict stores pickled values in the table `unnamed`.
    """
    import io

    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        for key, value in connection.execute("SELECT key, value FROM unnamed ORDER BY rowid"):
            yield key, _PlainUnpickler(io.BytesIO(value)).load()


def _facts(subject: Any, values: Mapping, relations: Mapping[Any, str]) -> Iterator[Fact]:
    """Return a fact for each key in `relations`, None for keys that `values` lacks."""
    return ((subject, relation, values.get(key)) for key, relation in relations.items())


def _films(file: Path) -> Iterator[Fact]:
    for film in _load_json(file).values():
        title = film.get("title")
        yield from (
            (title, f"has_{key}", f"movie_{film[key]}" if key == "id" else film.get(key))
            for key in FILM_KEYS
            if key in film
        )
        yield from ((title, "has_genre", genre.get("name")) for genre in film.get("genres") or ())
        for member in film.get("cast") or ():
            yield from (
                (title, "has_cast", member.get("name")),
                (member.get("name"), "plays", member.get("character")),
            )
        for member in film.get("crew") or ():
            yield from (
                (title, "has_crew", member.get("name")),
                (member.get("name"), "has_role", member.get("job")),
            )


def _people(file: Path) -> Iterator[Fact]:
    films = file.parent / "movie_db.json"
    titles = {}
    if films.is_file():
        titles = {film.get("id"): film.get("original_title") for film in _load_json(films).values()}
    for person in _load_json(file).values():
        name = person.get("name")
        yield from (
            (name, "acted_in", titles.get(film)) for film in person.get("acted_movies") or ()
        )
        yield from (
            (name, "has_id", f"person_{person.get('id')}"),
            (name, "has_birthday", person.get("birthday")),
        )


def _years(file: Path) -> Iterator[Fact]:
    for year, year_facts in _load_json(file).items():
        yield from (
            (f"movie_{film}", "released_in", year) for film in year_facts.get("movie_list") or ()
        )
        for prize in year_facts.get("oscar_awards") or ():
            film, name, category = prize.get("film"), prize.get("name"), prize.get("category")
            yield year, "edition_of", prize.get("ceremony")
            yield from ((film, "nominated_for", category), (name, "nominated_for", category))
            if prize.get("winner"):
                yield from ((film, "won", category), (name, "won", category))


def _football_matches(file: Path) -> Iterator[Fact]:
    for row in _csv_rows(file):
        match, team, opponent = row.get("game"), row.get("team"), row.get("opponent")
        yield from _facts(match, row, MATCH_RELATIONS)
        yield from (
            (match, f"{relation}_of_{team}", row.get(key))
            for key, relation in TEAM_RELATIONS.items()
        )
        yield from (
            (match, f"goals_of_{opponent}", row.get("GA")),
            (match, f"expected_goals_of_{opponent}", row.get("xGA")),
        )
        if row.get("result") in ("W", "L"):
            won, lost = (team, opponent) if row["result"] == "W" else (opponent, team)
            yield from ((match, "won_by", won), (match, "lost_by", lost))


def _basketball_players(file: Path) -> Iterator[Fact]:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        for row in connection.execute("SELECT * FROM common_player_info ORDER BY rowid"):
            yield from _facts(row["display_first_last"], dict(row), PLAYER_RELATIONS)


def _artists(file: Path) -> Iterator[Fact]:
    for name, artist in _unpickle(file).items():
        yield from _facts(name, artist, ARTIST_RELATIONS)
        yield from ((name, "has_members", member) for member in artist.get("members") or ())


def _artist_works(file: Path) -> Iterator[Fact]:
    for name, works in _unpickle(file).items():
        yield from ((name, "has_artist_work", work) for work in works)


def _prizes(file: Path) -> Iterator[Fact]:
    for row in _csv_rows(file):
        event, artist, song = row.get("title"), row.get("artist"), row.get("nominee")
        yield from (
            (event, "in_year_of", row.get("year")),
            (event, f"winner_{row.get('category')}", artist),
        )
        yield from ((artist, "winner_song", song), (song, "has_workers", row.get("workers")))


def _charts(file: Path) -> Iterator[Fact]:
    for key, entries in _unpickle(file).items():
        chart = f"Hot_100_Billboard_Rank_{key}"
        for entry in entries:
            yield from (
                (chart, "has_artist", entry.get("Artist")),
                (chart, "has_song", entry.get("Song")),
            )
            yield entry.get("Song"), f"{chart}_Rank_Date", entry.get("Date")


def _chart_ranks(file: Path) -> Iterator[Fact]:
    for song, weeks in _unpickle(file).items():
        for week in weeks.values():
            yield from (
                (song, relation, week[index])
                for index, relation in RANK_RELATIONS.items()
                if index < len(week)
            )


def _songs(file: Path) -> Iterator[Fact]:
    for name, song in _unpickle(file).items():
        yield from _facts(name, song, SONG_RELATIONS)


def _summaries(file: Path) -> Iterator[Fact]:
    with bz2.open(file, "rt", encoding="utf-8") as stream:
        for line in stream:
            name, summary = json.loads(line)
            yield name, "has_summary", summary.get("summary_text")


def _ticker_names(file: Path) -> Iterator[Fact]:
    return ((row.get("Name"), "has_ticker_name", row.get("Symbol")) for row in _csv_rows(file))


def _prices(file: Path) -> Iterator[Fact]:
    for key, days in _sqlitedict_items(file):
        for day, prices in (days or {}).items():
            yield key, "traded_at", f"{key}_{day}"
            yield from _facts(f"{key}_{day}", prices, PRICE_RELATIONS)


def _dividends(file: Path) -> Iterator[Fact]:
    for key, days in _sqlitedict_items(file):
        yield from (
            (key, "has_dividend", f"{day}: {amount}") for day, amount in (days or {}).items()
        )


def _companies(file: Path) -> Iterator[Fact]:
    for key, company in _sqlitedict_items(file):
        yield from _facts(
            key, company, COMPANY_RELATIONS | {"longBusinessSummary": "company_summary"}
        )
        yield from (
            (key, "company_officers", officer.get("name"))
            for officer in company.get("companyOfficers") or ()
        )


def _market_caps(file: Path) -> Iterator[Fact]:
    return (
        (key, "has_market_cap", f"{value} USD")
        for key, value in _sqlitedict_items(file)
        if value is not None
    )


# File below the folder -> reader of its facts.
CRAG_READERS: dict[str, Callable[[Path], Iterable[Fact]]] = {
    "movie/movie_db.json": _films,
    "movie/person_db.json": _people,
    "movie/year_db.json": _years,
    "sports/soccer_team_match_stats.pkl": _football_matches,
    "sports/nba.sqlite": _basketball_players,
    "music/artist_dict_simplified.pickle": _artists,
    "music/artist_work_dict.pickle": _artist_works,
    "music/grammy_df.pickle": _prizes,
    "music/rank_dict_hot100.pickle": _charts,
    "music/song_dict_hot100.pickle": _chart_ranks,
    "music/song_dict_simplified.pickle": _songs,
    "open/kg.0.jsonl.bz2": _summaries,
    "open/kg.1.jsonl.bz2": _summaries,
    "finance/company_name.dict": _ticker_names,
    "finance/finance_detailed_price.sqlite": _prices,
    "finance/finance_price.sqlite": _prices,
    "finance/finance_dividend.sqlite": _dividends,
    "finance/finance_info.sqlite": _companies,
    "finance/finance_marketcap.sqlite": _market_caps,
}
