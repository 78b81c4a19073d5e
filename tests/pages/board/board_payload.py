"""A board payload in the states that the app shows.

It is the film question of the sketch, with hostile names among the real ones.
"""

from __future__ import annotations

import copy
from typing import Any

HOSTILE = "<script>alert(1)</script>"
QUOTES = "O\"Brien & 'Sons' </style> 🎬"

NAMES = {
    1: ("Some Mother's Son", 0.06, 0.55, "question"),
    2: ("Terry George", 0.33, 0.38, "plain"),
    3: ("Hotel Rwanda", 0.62, 0.15, "plain"),
    4: ("Don Cheadle", 0.87, 0.07, "answer"),
    5: ("Reservation Road", 0.63, 0.48, "plain"),
    6: ("Joaquin Phoenix", 0.9, 0.46, "answer"),
    7: ("A Bright Shining Lie", 0.58, 0.82, "plain"),
    8: ("Bill Paxton", 0.87, 0.86, "answer"),
    9: ("Helen Mirren", 0.05, 0.16, "plain"),
    10: ("Jim Sheridan", 0.21, 0.86, "plain"),
    11: ("1996", 0.01, 0.93, "plain"),
    12: (QUOTES, 0.37, 0.04, "plain"),
    13: ("War", 0.77, 0.32, "plain"),
    14: (HOSTILE, 0.98, 0.66, "plain"),
}
TRIPLES = [
    (1, "directed_by", 2),
    (3, "directed_by", 2),
    (3, "starred_actors", 4),
    (5, "directed_by", 2),
    (5, "starred_actors", 6),
    (7, "directed_by", 2),
    (7, "starred_actors", 8),
    (1, "starred_actors", 9),
    (1, "written_by", 10),
    (1, "release_year", 11),
    (3, "has_tags", 13),
    (12, "written_by", 2),
    (5, "has_tags", 14),
]
ROUTES = {
    "cheadle": ([1, 2, 3, 4], [1, 2, 3]),
    "phoenix": ([1, 2, 5, 6], [1, 4, 5]),
    "paxton": ([1, 2, 7, 8], [1, 6, 7]),
    "george": ([1, 2], [1]),
    "mirren": ([1, 9], [8]),
    "sheridan": ([1, 10], [9]),
    "hostile": ([1, 2, 5, 14], [1, 4, 13]),
    "quotes": ([1, 2, 12], [1, 12]),
}
STAGES = ["graph", "subgraph", "paths", "prompt", "answer"]
ANSWERS = {"cheadle": "Don Cheadle", "phoenix": "Joaquin Phoenix", "paxton": "Bill Paxton"}
PROMPT = [
    {
        "role": "system",
        "content": "Answer from the paths only. Say which names answer the question.",
    },
    {
        "role": "user",
        "content": "Paths:\n"
        + "\n".join(
            f"{rank}. Some Mother's Son -> directed_by -> Terry George <- directed_by <- film {rank}"
            for rank in range(1, 9)
        )
        + f"\n{HOSTILE}\nQuestion: who acted in the movies directed by the director of Some Mother's Son",
    },
]


def path(key: str) -> dict[str, Any]:
    nodes, edges = ROUTES[key]
    steps: list[str] = [NAMES[nodes[0]][0]]
    forward = []
    for place, edge in enumerate(edges):
        source, relation, _ = TRIPLES[edge - 1]
        forward.append(source == nodes[place])
        steps += [relation, NAMES[nodes[place + 1]][0]]
    return {"nodes": nodes, "edges": edges, "forward": forward, "steps": steps}


def funnel(alive: list[int]) -> list[dict[str, Any]]:
    names = list(ANSWERS.values())
    stages, before = [], 3
    for stage, left in zip(STAGES, alive):
        stages.append({"stage": stage, "alive": left, "of": 3, "lost": names[left:before]})
        before = left
    return stages


def operators(found: int) -> list[dict[str, Any]]:
    blank = {"calls": 0, "tokens_in": 0, "tokens_out": 0, "texts": 0, "sizes": {}, "notes": []}
    return [
        {
            **blank,
            "label": "PersonalizedPageRank",
            "detail": "keep 1,000 · damping 0.8",
            "seconds": 0.021,
            "sizes": {"nodes": 1000, "edges": 2311},
        },
        {
            **blank,
            "label": "ShortestPaths",
            "detail": "at most 3 hops",
            "seconds": 0.14,
            "sizes": {"paths": 948},
        },
        {
            **blank,
            "label": "RankPaths",
            "detail": "encoder MiniLM-L6 · keep 32",
            "seconds": 0.52,
            "texts": 948,
            "sizes": {"paths": found},
        },
        {
            **blank,
            "label": "Generate",
            "detail": "Qwen2.5-Coder 0.5B",
            "seconds": 1.23,
            "calls": 1,
            "tokens_in": 612,
            "tokens_out": 14,
            "notes": ["The reply named no entity on line 2; the line was left out."],
        },
    ]


def lane(
    number: int,
    title: str,
    subtitle: str,
    found: list[str],
    scores: list[float],
    alive: list[int],
    **more: Any,
) -> dict[str, Any]:
    names = [ANSWERS[key] for key in found if key in ANSWERS]
    reader = names or ["Helen Mirren"]
    verdict = {"right": len(names), "of": 3}
    data = {
        "id": f"lane-{number}",
        "title": title,
        "subtitle": subtitle,
        "status": "done",
        "status_text": "Done",
        "retrieved": True,
        "retrieves": True,
        "error": None,
        "reader": reader,
        "answer": f"The movies directed by Terry George starred {', '.join(names) or 'Helen Mirren'}.",
        "model": "Qwen2.5-Coder 0.5B",
        "verdict": verdict,
        "reader_verdict": verdict,
        "funnel": funnel(alive),
        "drawn": {"nodes": 14, "of": 1000},
        "nodes": list(NAMES),
        "edges": list(range(1, len(TRIPLES) + 1)),
        "paths": [
            {"key": key, "rank": rank, "score": score}
            for rank, (key, score) in enumerate(zip(found, scores), 1)
        ],
        "lost": [{"key": key, "answer": name} for key, name in ANSWERS.items() if key not in found],
        "cost": "0.9 s · 948 paths scored · 612 + 14 tokens",
        "operators": operators(len(found)),
        "prompt": PROMPT,
        "prompt_tokens": 612,
        "stories": [],
    }
    return {**data, **more}


def fates(lanes: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, str]]]:
    table: dict[str, dict[str, dict[str, str]]] = {key: {} for key in ROUTES}
    for entry in lanes:
        ranks = {item["key"]: item["rank"] for item in entry["paths"]}
        for key in ROUTES:
            if key in ranks:
                fate = {"fate": "found", "text": f"rank {ranks[key]}"}
            elif entry["id"] == "lane-1":
                fate = {"fate": "never", "text": "never reached: beam left at hop 2"}
            else:
                fate = {"fate": "dropped", "text": "dropped by Rank: 41st of 948"}
            table[key][entry["id"]] = fate
    return table


def graphless_lane(number: int) -> dict[str, Any]:
    return lane(
        number,
        "Language model alone",
        "no retrieval",
        [],
        [],
        [3, 0, 0, 0, 0],
        retrieves=False,
        nodes=[],
        edges=[],
        drawn=None,
        lost=[],
        reader=None,
        reader_verdict=None,
        funnel=None,
        answer="Terry George directed Some Mother's Son; the actors include Helen Mirren.",
        cost="0.4 s · 41 + 22 tokens",
        operators=[operators(0)[-1]],
    )


def payload(count: int = 3) -> dict[str, Any]:
    """A finished comparison of ``count`` lanes (1 to 4)."""
    beams = [
        {
            "title": "Beam search",
            "frames": [
                {"title": "hop 1", "considered": 12, "paths": ["george", "mirren", "sheridan"]},
                {"title": "hop 2", "considered": 212, "paths": ["mirren", "quotes"]},
                {"title": "hop 3", "considered": 40, "paths": ["mirren", "hostile", "not-drawn"]},
            ],
        }
    ]
    lanes = [
        lane(
            0,
            "No. 12",
            "PageRank 1,000 → shortest paths → rank by encoder 32",
            ["cheadle", "george", "hostile", "quotes"],
            [0.61, 0.49, 0.44, 0.31],
            [3, 3, 1, 1, 1],
        ),
        lane(
            1,
            "No. 14",
            "PageRank 1,000 → beam 8 wide, 4 hops, encoder",
            ["mirren", "sheridan"],
            [0.58, 0.44],
            [3, 3, 0, 0, 0],
            cost="1.1 s · 712 paths scored · 598 + 9 tokens",
            stories=beams,
        ),
        lane(
            2,
            "Chain ranking",
            "chains ranked once → walked from the seed",
            ["cheadle", "phoenix", "paxton"],
            [0.71, 0.71, 0.71],
            [3, 3, 3, 3, 3],
            nodes=list(range(1, 9)),
            edges=list(range(1, 8)),
            drawn={"nodes": 8, "of": 8},
            cost="0.02 s · 1 encoder call · 231 + 17 tokens",
        ),
        graphless_lane(3),
    ][:count]
    return {
        "lanes": lanes,
        "layout": {
            "nodes": [
                {"id": number, "name": name, "x": x, "y": y, "role": role}
                for number, (name, x, y, role) in NAMES.items()
            ],
            "edges": [
                {"id": number, "source": source, "target": target, "relation": relation}
                for number, (source, relation, target) in enumerate(TRIPLES, 1)
            ],
        },
        "paths": {key: path(key) for key in ROUTES},
        "fates": fates(lanes),
    }


def unfinished(entry: dict[str, Any], status: str, text: str, **more: Any) -> dict[str, Any]:
    empty = {
        "retrieved": status == "answering",
        "reader": None,
        "answer": None,
        "verdict": None,
        "reader_verdict": None,
        "funnel": None,
        "drawn": None,
        "nodes": [],
        "edges": [],
        "paths": [],
        "lost": [],
        "cost": None,
        "operators": [],
        "prompt": None,
        "prompt_tokens": None,
        "stories": [],
    }
    return {**entry, **empty, "status": status, "status_text": text, **more}


def mixed() -> dict[str, Any]:
    """A lane answering, one running, one waiting and one that failed."""
    data = copy.deepcopy(payload(4))
    first, second, third, fourth = data["lanes"]
    first.update(
        status="answering",
        status_text="Qwen2.5-Coder 0.5B is answering",
        answer="The movies directed by Terry",
        verdict=None,
        funnel=[*first["funnel"][:4], {"stage": "answer", "alive": None, "of": None, "lost": []}],
    )
    data["lanes"] = [
        first,
        unfinished(second, "running", "Ranking 948 paths"),
        unfinished(third, "waiting", "Waiting for a free core"),
        unfinished(
            fourth,
            "failed",
            "Failed",
            title="No. 21",
            error="The language model “Qwen2.5 7B” is not installed; install hopscope[gpu] or choose another.",
        ),
    ]
    for row in data["fates"].values():
        for number in (1, 2, 3):
            row.pop(f"lane-{number}", None)
    return data


AT = {
    1: (0, 0.5),
    2: (0.3, 0.5),
    9: (0.3, 0.1),
    3: (0.65, 0.2),
    5: (0.65, 0.5),
    7: (0.65, 0.8),
    4: (1, 0.2),
    6: (1, 0.5),
    8: (1, 0.8),
}


def finished(count: int = 3) -> dict[str, Any]:
    """The same payload with everything that a lane may tell.

    It adds verdicts, times, evidence, panels and the places of the large picture.
    """
    data = payload(count)
    lanes = data["lanes"]
    data["ways"] = ["walk", "start"]
    data["verdict"] = {
        "text": "Only chains find all three. The beam leaves early.",
        "repair": {"lane": 1, "label": "Keep 75 nodes → 3 of 3"},
    }
    for entry, stage, seconds in zip(
        lanes, ("paths", "subgraph", None), ((0.1, 2.4, 1.4), (0.05, 0.7, 1.9), (0.02, 0.1, 1.1))
    ):
        head = "All three found:" if stage is None else f"Lost in the {stage}:"
        text = "“directed by → directed” was 9th of 84, the beam is 8 wide."
        entry["verdict_text"] = {
            "stage": stage,
            "head": head,
            "text": text,
            "tone": "good" if stage is None else "warn",
        }
        entry["spans"] = [
            {"kind": kind, "label": kind, "seconds": part}
            for kind, part in zip(("retrieval", "ranking", "model"), seconds)
        ]
        entry["found"] = {"kept": 32, "ranked": 948}
    lanes[0]["repair"] = {"label": "Keep 75 paths → 3 of 3"}
    data["evidence"] = {
        "lane-0": [{"text": "Don Cheadle", "node": 4, "paths": ["cheadle"], "prompt": [2]}]
    }
    for node in data["layout"]["nodes"]:
        lane_words = {
            entry["id"]: {
                "in": node["id"] in entry["nodes"],
                "text": "from PageRank · on 1 path, the best is 1st",
            }
            for entry in lanes
        }
        node["about"] = {
            "degree": 1 + node["id"],
            "relations": [["directed", 1]],
            "others": 1,
            "counted": 1 + node["id"],
            "lanes": lane_words,
        }
        if node["id"] in AT:
            node["at"] = list(AT[node["id"]])
    for path in data["paths"].values():
        path["words"] = [name.replace("_", " ") for name in path["steps"][1::2]]
    return data
