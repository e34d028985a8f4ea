"""The house stays one that can be looked through: small modules, small rooms, a README at each door."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import REPOSITORY
from tests.support.checkout import python_files

MOST_LINES = 330
MOST_MODULES = 12
ROOMS = ("locobench", "harness", "measure", "examples", "templates")


def tracked() -> list[Path]:
    """Python files of the product."""
    return [path for path in python_files() if len(path.parts) == 1 or path.parts[0] in ROOMS]


def test_no_module_is_longer_than_can_be_read_in_one_go() -> None:
    sizes = {str(path): len((REPOSITORY / path).read_text(encoding="utf-8").splitlines()) for path in tracked()}
    assert {name for name, lines in sizes.items() if lines > MOST_LINES} == set()


def test_no_room_holds_more_modules_than_can_be_kept_in_mind() -> None:
    rooms: dict[str, int] = {}
    for path in tracked():
        if path.name != "__init__.py":
            rooms[str(path.parent)] = rooms.get(str(path.parent), 0) + 1
    assert {room: count for room, count in rooms.items() if count > MOST_MODULES} == {}


def test_every_room_says_what_belongs_there() -> None:
    rooms = {path.parent for path in tracked() if path.name == "__init__.py"}
    assert [str(room) for room in sorted(rooms) if not (REPOSITORY / room / "README.md").is_file()] == []
