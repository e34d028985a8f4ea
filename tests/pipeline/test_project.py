"""locobench/generate/project.py: which files of a project a task gets, under which paths."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from locobench.generate.project import Project, ProjectMapping
from tests.conftest import SAMPLE
from tests.support.data_builder import FILES, PROJECT, Data, tree

PATHS = sorted(FILES)


def mapped(data: Data, context_files: list[str]) -> ProjectMapping:
    return Project.scan(data.folder / "generated" / PROJECT).mapping(context_files)


@pytest.mark.parametrize("root", ["shop/", "PaletteFlow Studio/", f"{PROJECT}/"])
def test_one_root_folder_becomes_the_project(data: Data, tmp_path: Path, root: str) -> None:
    data.project(root=root)
    mapping = mapped(data, [root + path for path in PATHS])
    mapping.copy_to(tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == PATHS == sorted(mapping.context_files)


def test_padding_beside_the_root_folder_is_left_out(data: Data, tmp_path: Path) -> None:
    project = data.project()
    for padding in ("src/main.py", "tests/test_main.py", "README.md", "Dockerfile"):
        (project / padding).parent.mkdir(exist_ok=True)
        (project / padding).write_text("padding")
    mapping = mapped(data, [f"shop/{path}" for path in PATHS])
    mapping.copy_to(tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == PATHS


@pytest.mark.parametrize("roots", [("",), ("client/", "server/")], ids=["no root", "several roots"])
def test_any_other_shape_is_taken_whole_but_for_its_metadata(
    data: Data, tmp_path: Path, roots: tuple[str, ...]
) -> None:
    for root in roots:
        data.project(root=root)
    expected = sorted(root + path for root in roots for path in PATHS)
    mapping = mapped(data, expected)
    mapping.copy_to(tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == expected == sorted(mapping.context_files)


def test_paths_that_do_not_exist_are_named_and_not_scored(data: Data) -> None:
    data.project()
    mapping = mapped(
        data, ["name", "type", "children", "shop/src/basket.py", "shop/src", "../outside.py", "/etc/passwd"]
    )
    assert mapping.context_files == ("src/basket.py",)
    assert mapping.missing == ("name", "type", "children", "shop/src", "../outside.py", "/etc/passwd")


def test_every_existing_context_file_is_found_at_its_new_path(tmp_path: Path) -> None:
    check_context_files(SAMPLE, tmp_path)


def test_every_existing_context_file_of_the_real_data_is_found_at_its_new_path(real_data: Path, tmp_path: Path) -> None:
    check_context_files(real_data, tmp_path)


def check_context_files(data_dir: Path, tmp_path: Path) -> None:
    from adapter import LoCoBenchLoader
    from tests.support.data_builder import extract

    extract(data_dir, tmp_path / "d.jsonl")
    for number, task in enumerate(LoCoBenchLoader(tmp_path / "d.jsonl")):
        source = data_dir / "generated" / task.project_id
        mapping = Project.scan(source).mapping(task.context_files)
        mapping.copy_to(tmp_path / str(number))
        existing = [path for path in task.context_files if (source / path).is_file()]
        assert len(existing) == len(mapping.context_files) > 0
        for old, new in zip(existing, mapping.context_files, strict=True):
            assert (tmp_path / str(number) / new).read_bytes() == (source / old).read_bytes()


def test_links_stay_only_where_they_lead_to_a_file_of_the_project(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    (tmp_path / "secret").write_text("secret")
    links = {
        "inside": "src/basket.py", "src/up": "../README.md", "folder": "src", "absolute": str(tmp_path / "secret"),
        "outside": "../../../../secret", "metadata": "../project_metadata.json", "nowhere": "gone", "loop": "loop",
        "second": "inside",
    }  # fmt: skip
    for name, target in links.items():
        (shop / name).symlink_to(target)
    mapping = mapped(data, [f"shop/{path}" for path in PATHS])
    mapping.copy_to(tmp_path / "out")
    assert set(tree(tmp_path / "out")) - set(PATHS) == {"inside", "src/up", "folder"}
    assert {line.partition(": ")[0] for line in mapping.warnings} == {
        f"left out shop/{name}" for name in ("absolute", "outside", "metadata", "nowhere", "loop", "second")
    }


def test_what_is_neither_file_nor_folder_is_left_out_and_named(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    os.mkfifo(shop / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(shop)  # a socket's path is limited to 107 bytes
        try:
            server.bind("door")
        finally:
            os.chdir(here)
    (shop / ".git").mkdir()
    mapping = mapped(data, [f"shop/{path}" for path in PATHS])
    mapping.copy_to(tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == PATHS
    assert mapping.warnings == (
        "left out shop/.git: version control",
        "left out shop/door: neither a file nor a folder",
        "left out shop/pipe: neither a file nor a folder",
    )


def test_content_digest_changes_with_name_content_and_mode_only(data: Data) -> None:
    folder = data.project()
    digests = {Project.scan(folder).content}
    os.utime(folder / "shop" / "README.md", (1, 1))
    assert Project.scan(folder).content in digests
    (folder / "shop" / "README.md").write_text("changed")
    digests.add(Project.scan(folder).content)
    (folder / "shop" / "README.md").chmod(0o755)
    digests.add(Project.scan(folder).content)
    (folder / "shop" / "README.md").rename(folder / "shop" / "READ.md")
    digests.add(Project.scan(folder).content)
    assert len(digests) == 4


def test_copy_keeps_bytes_and_the_executable_bit(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    (shop / "run").write_bytes(bytes(range(256)) * 999)
    (shop / "run").chmod(0o700)
    mapped(data, [f"shop/{path}" for path in PATHS]).copy_to(tmp_path / "out")
    assert (tmp_path / "out" / "run").read_bytes() == (shop / "run").read_bytes()
    assert [(tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("run", "README.md")] == [0o755, 0o644]
