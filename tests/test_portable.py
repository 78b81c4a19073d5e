"""Things that only some systems have are asked for where they are known to be there.

Linux, macOS and Windows run the same code.

What each of these places does where it is absent is tested beside its module; types of other
systems are checked by `mypy --platform win32` and `mypy --platform darwin`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest

from core.io.home import ROOT

FILES = sorted(
    [
        *ROOT.glob("*.py"),
        *(file for room in ("core", "pages", "hopscope") for file in (ROOT / room).rglob("*.py")),
    ]
)
MODULES = set(
    "crypt fcntl grp msvcrt nis posix pty pwd resource spwd syslog termios tty winreg _winapi".split()
)
ATTRIBUTES = {
    "os": "fork forkpty getpgid getpgrp getuid geteuid getgid getloadavg killpg mkfifo nice openpty posix_fadvise pread preadv pwrite "
    "sched_getaffinity sched_setaffinity sendfile setpgid setsid setuid statvfs uname wait wait3 wait4 chown lchown O_ASYNC O_CLOEXEC "
    "O_DIRECT O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC startfile O_BINARY",
    "signal": "SIGALRM SIGCHLD SIGHUP SIGIO SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 SIGXCPU alarm pause pthread_kill setitimer "
    "sigwait CTRL_BREAK_EVENT",
    "socket": "AF_UNIX AF_PACKET SO_REUSEPORT fromfd socketpair",
    "mmap": "MADV_DONTNEED MADV_RANDOM MADV_SEQUENTIAL MADV_WILLNEED MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE",
    "subprocess": "CREATE_NEW_PROCESS_GROUP STARTUPINFO",
    "ctypes": "windll CDLL",
    "resource": "RUSAGE_THREAD",
    "time": "tzset",
}
GUARDED = {
    "core/runtime/subprocess_worker.py: fcntl",
    "core/runtime/subprocess_worker.py: resource",
    "core/runtime/subprocess_worker.py: os.O_ASYNC",
    "core/runtime/subprocess_worker.py: signal.SIGXCPU",
    "core/runtime/child_guard.py: os.killpg",
    "core/runtime/child_guard.py: signal.SIGKILL",
    "core/graph/pagerank/local/disk.py: ctypes.CDLL",
    "core/graph/pagerank/local/disk.py: mmap.MADV_WILLNEED",
    "core/graph/pagerank/local/disk.py: resource",
    "core/finetune/loop.py: ctypes.CDLL",
    "core/comparison/housekeeping.py: resource",
    "core/models/threads.py: os.sched_getaffinity",
    "core/runtime/memory.py: ctypes.CDLL",
}
MOVES = "core/io/durable_files.py"


def found_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in MODULES:
                yield node.module
            yield from (
                f"{node.module}.{one.name}"
                for one in node.names
                if one.name in ATTRIBUTES.get(node.module, "").split()
            )
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in ATTRIBUTES.get(node.value.id, "").split():
                yield f"{node.value.id}.{node.attr}"


def moves_in(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that move a file by other means than `move`.

    That function tries again where Windows does not let it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            by_os = isinstance(node.func.value, ast.Name) and node.func.value.id in ("os", "shutil")
            if by_os and node.func.attr in ("rename", "renames", "replace", "move"):
                yield node.lineno
            # of a path; a text has two
            elif (
                node.func.attr in ("rename", "replace")
                and len(node.args) == 1
                and not node.keywords
            ):
                yield node.lineno


def without_encoding(tree: ast.AST) -> Iterator[int]:
    """The lines that open a text in the encoding of the system, which is another one on Windows."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(
            keyword.arg == "encoding" for keyword in node.keywords
        ):
            continue
        if isinstance(node.func, ast.Name):
            name = node.func.id
        elif isinstance(node.func, ast.Attribute):
            name = node.func.attr
        else:
            name = ""
        if name == "open":
            mode = node.args[1:2] if isinstance(node.func, ast.Name) else node.args[:1]
            if not mode:
                text = isinstance(node.func, ast.Name)
            else:
                text = isinstance(mode[0], ast.Constant) and "b" not in str(mode[0].value)
            if text:
                yield node.lineno
        elif name in ("read_text", "write_text") and len(node.args) <= (
            "read_text",
            "write_text",
        ).index(name):
            yield node.lineno


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.AST]:
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in FILES}


def test_what_only_some_systems_have_is_asked_for_in_known_places(trees):
    assert {f"{name}: {one}" for name, tree in trees.items() for one in found_in(tree)} == GUARDED


def test_what_is_imported_where_it_may_be_absent_is_imported_under_a_guard(trees):
    """At the top of a module only below an `if sys.platform`; so importing it fails nowhere."""
    nodes = [(name, node) for name, tree in trees.items() for node in tree.body if not guard(node)]
    assert not [f"{name}:{node.lineno}" for name, node in nodes if set(found_in(node)) & MODULES]


def guard(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and "sys.platform" in ast.unparse(node.test)
        or isinstance(node, ast.FunctionDef | ast.ClassDef)
    )


def test_files_are_moved_by_one_function(trees):
    assert not [
        f"{name}:{line}" for name, tree in trees.items() if name != MOVES for line in moves_in(tree)
    ]


def test_texts_are_opened_with_their_encoding(trees):
    assert not [f"{name}:{line}" for name, tree in trees.items() for line in without_encoding(tree)]


def test_the_lint_finds_what_it_looks_for():
    tree = ast.parse("import pwd\nfrom os import getuid\nimport os\nos.fork()\nos.getpid()")
    assert set(found_in(tree)) == {"pwd", "os.getuid", "os.fork"}
    tree = ast.parse(
        "os.replace(a, b)\npath.rename(b)\npath.replace(b)\ntext.replace(a, b)\nstate.replace(hits=1)\nmove(a, b)"
    )
    assert list(moves_in(tree)) == [1, 2, 3]
    calls = (
        "open(a)",
        "open(a, 'rb')",
        "a.open('w')",
        "a.open('w', encoding='utf-8')",
        "a.read_text()",
        "a.write_text(b, 'utf-8')",
    )
    assert list(without_encoding(ast.parse("\n".join(calls)))) == [1, 3, 5]


def test_names_of_our_files_are_names_everywhere():
    """No two names differ by case alone, and there is none that Windows does not take.

    So a checkout is whole there too.
    """
    import subprocess

    from tests.windows import FORBIDDEN

    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("no checkout of git")
    names = listed.stdout.decode().strip("\0").split("\0")
    assert len({name.casefold() for name in names}) == len(names)
    assert not [name for name in names if any(FORBIDDEN.search(part) for part in name.split("/"))]
    assert max(map(len, names)) < 200 and sys.getfilesystemencoding() == "utf-8"
