"""Places of passages and entities before and after a change: what stays is drawn where it was."""

from __future__ import annotations

from core.graph.edits import Edit
from pages.parts.board.keys import Key
from pages.parts.board.text_picture import PictureDraft, TextPicture, apply_renames


def places(picture, monkeypatch, *names):
    keys = [Key("node", name) for name in names]
    drawing = PictureDraft(
        {key: {"name": key.id, "role": "entity"} for key in keys},
        {pair: "knows" for pair in zip(keys, keys[1:])},
    )
    monkeypatch.setattr("pages.parts.board.text_picture.nodes_to_draw", lambda *_: drawing)
    return {
        node["name"]: (node["x"], node["y"])
        for node in picture.draw((), {}, {}, ())["layout"]["nodes"]
    }


def test_what_stays_keeps_its_place_and_what_comes_back_has_its_own_again(monkeypatch):
    first = TextPicture()
    whole = places(first, monkeypatch, "Ann", "Bob", "Cid", "Dan")
    second = TextPicture(first.positions)
    assert places(second, monkeypatch, "Ann", "Cid", "Dan") == {
        name: whole[name] for name in ("Ann", "Cid", "Dan")
    }
    assert places(TextPicture(second.positions), monkeypatch, "Ann", "Bob", "Cid", "Dan") == whole


def test_a_renamed_entity_is_where_it_was():
    found = apply_renames(
        {"node Ann": (0.1, 0.2)},
        [Edit("rename", ("Ann", "Bea")), Edit("node", ("Cid",)), Edit("rename", ("Bea", "Eve"))],
    )
    assert found["node Bea"] == found["node Eve"] == (0.1, 0.2)
