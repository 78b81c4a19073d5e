"""List of the commands, in groups, each with its line of help and an example.

The help of the program is made of it, so that it imports no command.
"""

from __future__ import annotations

# Of each command: its purpose in one line, and the arguments of an example. Its name is also that
# of its module in `core.commands`.
COMMAND_GROUPS = {
    "Ask": {
        "ask": ("ask several methods one question", '"who directed Inception" --no-llm'),
        "methods": ("list the methods and what they need", "--json"),
        "export": ("write comparisons as web pages, a run as a claim", "shipped --site site"),
        "cases": ("list, export or import saved comparisons", "export --out mine.cases.gz"),
    },
    "Bring your own data": {
        "bring": ("say what a file, folder or database is, and add it", "reports.zip --dry-run"),
        "build": ("build a graph from a file of triples", "triples.tsv --out graphs/mine"),
        "graph": ("export or remove a graph", "export metaqa --format turtle --out metaqa.ttl"),
        "corpus": ("add documents and build graphs of them", "add reports/ --name reports"),
        "data": ("list the shipped data and licences, add a set", "--add scifact"),
        "questions": ("save a file of questions as a set", "mine.csv --graph mine --name my-set"),
    },
    "Evaluate": {
        "evaluate": (
            "run methods over a question set and compare them",
            "--set metaqa-2hop --methods pagerank-paths,pagerank-paths-ranked --sample 200",
        ),
        "audit": (
            "find wrong keys, missing gold and copies in a set",
            "metaqa-2hop-dev --sample 300",
        ),
        "search": (
            "find a method within a budget of seconds or tokens",
            "--set metaqa-2hop-dev --budget-seconds 0.5",
        ),
        "judge": ("let a language model compare answers in pairs", "12 --sample 50"),
        "reproduce": ("make a paper's table, next to its printed values", "lego-table-7 --small"),
        "verify": ("check a claim that export wrote, and run it again", "claim --rows 20"),
    },
    "Prepare": {
        "prepare": ("build and fetch what the first question needs", ""),
        "index": ("encode a graph's vectors or walks ahead", "vectors --graph metaqa --of nodes"),
        "reports": ("write community reports ahead", "--set metaqa-2hop --sample 200"),
        "models": ("list the models, fetch one, add a server", "--fetch qwen-1.5b"),
        "finetune": ("train an encoder or a language model", "encoder --set metaqa-1hop-dev"),
    },
    "Open or serve": {
        "demo": ("open the app at the comparisons that ship; needs no model", ""),
        "run": ("prepare, then open the app on this computer", "--port 8600"),
        "serve": ("serve comparisons, evaluations and advice over HTTP", "--port 8700"),
        "mcp": ("serve tools for agents over the Model Context Protocol", "--http 8765"),
    },
}
COMMANDS = {name: row for group in COMMAND_GROUPS.values() for name, row in group.items()}


def commands_text() -> str:
    """Return the commands as text, by group, each with its example."""
    lines = []
    for group, commands in COMMAND_GROUPS.items():
        lines.append(f"\n{group}:")
        for name, (purpose, _) in commands.items():
            lines.extend((f"  {name:11}{purpose}", f"{'':15}{example(name)}"))
    return "\n".join([*lines, "\nOptions of a command: hopscope COMMAND --help", ""])


def example(name: str) -> str:
    """Return the example of a command as it is typed.

    >>> from core.commands.listing import example
    >>> example("models")
    'hopscope models --fetch qwen-1.5b'
    """
    return f"hopscope {name} {COMMANDS[name][1]}".rstrip()
