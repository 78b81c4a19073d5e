"""Small copies of CRAG's mock graphs: their triples by hand, and notes on parts that are not
read.
"""

from __future__ import annotations

import bz2
import csv
import json
import pickle
import sqlite3
from contextlib import closing, suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli import EXIT_OK, main
from core.errors import BadInput
from core.graph.readers.crag import CRAG_READERS, crag_triples, is_crag
from tests.notes import NoteWith

FILM = {
    "id": 7,
    "title": "One",
    "original_title": "Eins",
    "budget": None,
    "genres": [{"name": "Drama"}],
    "crew": [{"name": "Ann", "job": "Director"}],
}
PRIZE = {"film": "One", "name": "Ann", "category": "BEST PICTURE", "winner": True, "ceremony": 90}


def write_key_values(file, values):
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("CREATE TABLE unnamed (key TEXT PRIMARY KEY, value BLOB)")
        opened.executemany(
            "INSERT INTO unnamed VALUES (?, ?)",
            [(key, pickle.dumps(value)) for key, value in values.items()],
        )


@pytest.fixture
def folder(tmp_path):
    for name in ("movie", "sports", "music", "open", "finance"):
        (tmp_path / "cragkg" / name).mkdir(parents=True)
    return tmp_path / "cragkg"


def read_crag(folder):
    notes = []
    return list(crag_triples(folder, notes)), notes


def test_films_people_and_years(folder):
    (folder / "movie/movie_db.json").write_text(
        json.dumps({"one": {**FILM, "cast": [{"name": "Bob", "character": "a\tman"}]}}), "utf-8"
    )
    person = {"name": "Bob", "id": 3, "acted_movies": [7, 8], "birthday": "1950-01-01"}
    (folder / "movie/person_db.json").write_text(json.dumps({"bob": person}), "utf-8")
    (folder / "movie/year_db.json").write_text(
        json.dumps(
            {"1999": {"movie_list": [7], "oscar_awards": [PRIZE]}, "2000": {"movie_list": []}}
        ),
        "utf-8",
    )
    found, notes = read_crag(folder)
    assert found == [
        ("One", "has_id", "movie_7"),
        ("One", "has_original_title", "Eins"),
        ("One", "has_title", "One"),
        ("One", "has_genre", "Drama"),
        ("One", "has_cast", "Bob"),
        ("Bob", "plays", "a man"),
        ("One", "has_crew", "Ann"),
        ("Ann", "has_role", "Director"),
        ("Bob", "acted_in", "Eins"),  # Film 8 is not among the films.
        ("Bob", "has_id", "person_3"),
        ("Bob", "has_birthday", "1950-01-01"),
        ("movie_7", "released_in", "1999"),
        ("1999", "edition_of", "90"),
        ("One", "nominated_for", "BEST PICTURE"),
        ("Ann", "nominated_for", "BEST PICTURE"),
        ("One", "won", "BEST PICTURE"),
        ("Ann", "won", "BEST PICTURE"),
    ]
    assert len(notes) == len(CRAG_READERS) - 3 and "open/kg.0.jsonl.bz2 is not there." in notes


def test_sports(folder):
    rows = (
        "game,team,opponent,result,GF,GA,xG,xGA,Captain\nm1,A,B,W,2,1,1.5,0.5,Kim\nm2,A,B,D,"
        "1,1,,,\n"
    )
    (folder / "sports/soccer_team_match_stats.csv").write_text(rows, "utf-8")
    with closing(sqlite3.connect(folder / "sports/nba.sqlite")) as opened, opened:
        columns = (
            "person_id display_first_last birthdate school country last_affiliation height "
            "weight season_exp jersey position"
        ).split()
        opened.execute(f"CREATE TABLE common_player_info ({', '.join(columns)})")
        opened.execute(
            "INSERT INTO common_player_info VALUES (1, 'Al', '1960', NULL, 'USA', '', "
            "'6-1', 80, 5, '23', 'Guard')"
        )
    found, _ = read_crag(folder)
    assert (
        ("m1", "won_by", "A") in found
        and ("m1", "lost_by", "B") in found
        and ("m1", "goals_of_B", "1") in found
    )
    assert ("m1", "captain_of_A", "Kim") in found and ("m1", "expected_goals_of_B", "0.5") in found
    # The game is a draw.
    assert not [one for one in found if one[0] == "m2" and one[1] in ("won_by", "lost_by")]
    assert [one for one in found if one[0] == "Al"] == [
        ("Al", "born_at", "1960"),
        ("Al", "country", "USA"),
        ("Al", "has_height", "6-1"),
        ("Al", "has_weight", "80"),
        ("Al", "season_experience", "5"),
        ("Al", "jersey_number", "23"),
        ("Al", "nba_position", "Guard"),
    ]


def test_plain_music_files_are_read(folder):
    artist = {
        "Ann": {
            "country": "US",
            "birth_date": float("nan"),
            "end_date": None,
            "members": ["Bob", "Cat"],
        }
    }
    (folder / "music/artist_dict_simplified.pickle").write_bytes(pickle.dumps(artist))
    (folder / "music/artist_work_dict.pickle").write_bytes(pickle.dumps({"Ann": ["Song"]}))
    (folder / "music/rank_dict_hot100.pickle").write_bytes(
        pickle.dumps({"1": [{"Artist": "Ann", "Song": "Song", "Date": "2000-01-01"}]})
    )
    (folder / "music/song_dict_hot100.pickle").write_bytes(
        pickle.dumps({"Song": {"w": ["2000-01-01", 1, "Ann", 0, 3, 1, 2]}})
    )
    (folder / "music/song_dict_simplified.pickle").write_bytes(
        pickle.dumps({"Song": {"author": "Ann", "country": "US", "date": "2000"}})
    )
    # An object of any class.
    (folder / "music/grammy_df.pickle").write_bytes(pickle.dumps(Fraction(1, 2)))
    found, notes = read_crag(folder)
    assert ("Ann", "has_members", "Cat") in found and ("Ann", "has_artist_work", "Song") in found
    assert (
        ("Hot_100_Billboard_Rank_1", "has_song", "Song") in found
        and ("Song", "rank", "2") in found
        and ("Song", "artist", "Ann") in found
    )
    assert not [one for one in found if one[1] == "birth_date"]  # The birth date is no number.
    assert [note for note in notes if "grammy_df" in note] == [
        NoteWith("music/grammy_df.pickle", "left out", "grammy_df.csv")
    ]


class PrintingPickle:
    def __reduce__(self):
        return print, ("this ran",)


def test_no_code_of_a_file_runs(folder, capsys):
    (folder / "music/artist_work_dict.pickle").write_bytes(
        pickle.dumps({"Ann": [PrintingPickle()]})
    )
    write_key_values(folder / "finance/finance_price.sqlite", {"A": PrintingPickle()})
    found, notes = read_crag(folder)
    assert (
        found == []
        and sum("left out" in note for note in notes) == 2
        and capsys.readouterr().out == ""
    )


def test_summaries_and_companies(folder):
    (folder / "open/kg.0.jsonl.bz2").write_bytes(
        bz2.compress(b'["Florida", {"summary_text": "A state\\nof the US."}]\n')
    )
    (folder / "finance/company_name.dict").write_text("Name,Symbol\nAcme,ACM\n", "utf-8")
    write_key_values(
        folder / "finance/finance_price.sqlite",
        {"ACM": {"2024-01-02": {"Open": 1.5, "Close": 2}}, "NONE": {}},
    )
    write_key_values(
        folder / "finance/finance_info.sqlite",
        {
            "ACM": {
                "city": "Oslo",
                "longBusinessSummary": "Makes.",
                "companyOfficers": [{"name": "Kim"}],
            },
            "B": {"city": "Rome"},
        },
    )
    write_key_values(folder / "finance/finance_marketcap.sqlite", {"ACM": 12.0})
    write_key_values(
        folder / "finance/finance_dividend.sqlite", {"ACM": {"2024-01-01": 0.2}, "B": {}}
    )
    assert read_crag(folder)[0] == [
        ("Florida", "has_summary", "A state of the US."),
        ("Acme", "has_ticker_name", "ACM"),
        ("ACM", "traded_at", "ACM_2024-01-02"),
        ("ACM_2024-01-02", "opening_price", "1.5"),
        ("ACM_2024-01-02", "closing_price", "2"),
        ("ACM", "has_dividend", "2024-01-01: 0.2"),
        ("ACM", "location_city", "Oslo"),
        ("ACM", "company_summary", "Makes."),
        ("ACM", "company_officers", "Kim"),
        ("B", "location_city", "Rome"),
        ("ACM", "has_market_cap", "12.0 USD"),
    ]


def test_damaged_files_give_an_error_sentence(folder):
    (folder / "movie/movie_db.json").write_text("{", "utf-8")
    assert (
        is_crag(folder)
        and not is_crag(folder / "movie")
        and not is_crag(folder / "movie/movie_db.json")
    )
    with pytest.raises(BadInput, match="movie_db.json cannot be read as CRAG has it"):
        read_crag(folder)


def test_a_table_with_a_very_long_cell_gives_an_error_sentence(folder):
    file = next(folder / name for name in CRAG_READERS if name.endswith(".pkl")).with_suffix(".csv")
    file.write_text(f"a,b\n{'x' * 200_000},y\n", "utf-8")
    # The limit holds for the whole process, and other readers raise it.
    usual = csv.field_size_limit(100_000)
    try:
        with pytest.raises(BadInput, match="cannot be read as CRAG has it"):
            read_crag(folder)
    finally:
        csv.field_size_limit(usual)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["title", "cast", "id", "members", "movie_list", "a"]), inner
        )
    ),
)


@given(st.sampled_from(sorted(CRAG_READERS)), ANYTHING | st.binary(max_size=60))
def test_any_folder_is_read_or_gives_an_error_sentence(tmp_path_factory, name, value):
    folder = tmp_path_factory.mktemp("any")
    file = folder / name
    file.parent.mkdir()
    if name.endswith(".sqlite") and not isinstance(value, bytes):
        write_key_values(file, {"A": value})
    elif isinstance(value, bytes):
        file.write_bytes(value)
    elif name.endswith((".pickle", ".pkl")):
        file.write_bytes(pickle.dumps(value))
    else:
        text = json.dumps(value).encode()
        file.write_bytes(bz2.compress(text) if name.endswith(".bz2") else text)
    with suppress(BadInput):
        assert all(
            len(one) == 3 and all(one) and not set("\t\n") & set("".join(one))
            for one in read_crag(folder)[0]
        )


def test_the_folder_is_built_by_its_command(folder, tmp_path, capsys):
    film = {**FILM, "genres": [{"name": "half a \ud83d letter"}]}
    (folder / "movie/movie_db.json").write_text(json.dumps({"one": film}), "utf-8")
    assert (
        main(["build", str(folder), "--out", str(tmp_path / "crag"), "--direction", "out"])
        == EXIT_OK
    )
    out = capsys.readouterr().out
    assert "6 entities" in out  # One, movie_7, Eins, its genre, Ann, Director.
    assert "finance/company_name.dict is not there." in out
