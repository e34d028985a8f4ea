"""What an isolated environment holds, and which changes in it are seen."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.isolator import EnvironmentIsolator
from harness.models import FileChange
from harness.sandbox import directory, trees
from locobench.shared.errors import InputError


@pytest.fixture
def isolator() -> EnvironmentIsolator:
    return EnvironmentIsolator()


def skill(folder: Path, name: str) -> Path:
    (folder / name / "scripts").mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\n---\n")
    (folder / name / "scripts/run.sh").write_text("#!/bin/sh\n")
    (folder / name / "scripts/run.sh").chmod(0o755)
    return folder


def changes_after(isolator: EnvironmentIsolator, root: Path, change: object) -> dict[str, FileChange]:
    before = isolator.snapshot_files(root)
    change(root)  # type: ignore[operator]
    return {c.path: c for c in isolator.diff_files(before, root)}


def test_project_is_a_copy_of_the_fixture(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("x = 1\n")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    with isolator.create_environment(tmp_path) as env:
        assert (env.path / "src/a.py").read_text() == "x = 1\n"
        assert (env.path / "run.sh").stat().st_mode & 0o777 == 0o755
        (env.path / "src/a.py").write_text("changed")
    assert (tmp_path / "src/a.py").read_text() == "x = 1\n"
    assert not env.temp_root.exists()


def test_missing_fixture_is_an_error(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    """It used to become an empty project, silently."""
    with pytest.raises(InputError, match="is not a directory"):
        isolator.create_environment(tmp_path / "nowhere")


def test_the_folder_for_environments_is_made(tmp_path: Path) -> None:
    with EnvironmentIsolator(tmp_path / "new" / "folder").create_environment() as env:
        assert env.temp_root.parent == tmp_path / "new" / "folder"


def test_a_place_where_no_environment_can_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/below: cannot be written \(Not a directory\); name another base_dir"):
        EnvironmentIsolator(tmp_path / "file" / "below").create_environment()


def test_skills_path_that_does_not_exist_is_an_error(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    with pytest.raises(InputError, match="no such folder"):
        isolator.create_environment(skills_path=tmp_path / "nowhere")


def test_a_folder_without_skills_is_worth_a_warning(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    with pytest.warns(UserWarning, match="contains no skill"), isolator.create_environment(skills_path=tmp_path) as env:
        assert not (env.path / ".claude").exists()


def test_paths_may_be_strings(tmp_path: Path) -> None:
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture/a.txt").write_text("x")
    (tmp_path / "base").mkdir()
    isolator = EnvironmentIsolator(str(tmp_path / "base"))
    skills = str(skill(tmp_path / "skills", "s"))
    with isolator.create_environment(str(tmp_path / "fixture"), skills_path=skills) as env:
        before = isolator.snapshot_files(str(env.path))
        (env.path / "a.txt").write_text("y")
        assert [change.path for change in isolator.diff_files(before, str(env.path))] == ["a.txt"]


def test_nothing_is_left_when_creation_fails(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    with pytest.raises(InputError):
        EnvironmentIsolator(base).create_environment(tmp_path / "nowhere")
    assert list(base.iterdir()) == []


def test_claude_md_is_a_file_of_the_project(isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment(claude_md="# Rules\n") as env:
        assert (env.path / "CLAUDE.md").read_text() == "# Rules\n"


def test_without_claude_md_the_fixtures_own_stays(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "CLAUDE.md").write_text("own")
    with isolator.create_environment(tmp_path) as env:
        assert (env.path / "CLAUDE.md").read_text() == "own"


def test_skills_come_whole(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment(skills_path=skill(tmp_path, "s")) as env:
        script = env.path / ".claude/skills/s/scripts/run.sh"
        assert script.stat().st_mode & 0o111


def test_a_single_skill_folder_is_taken_too(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment(skills_path=skill(tmp_path, "s") / "s") as env:
        assert (env.path / ".claude/skills/s/SKILL.md").exists()


def test_home_is_expanded_for_skills(
    tmp_path: Path, isolator: EnvironmentIsolator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`~` used to be taken for the name of a folder, so that skills were silently absent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    skill(tmp_path / ".claude/skills", "s")
    with isolator.create_environment(skills_path=Path("~/.claude/skills")) as env:
        assert (env.path / ".claude/skills/s/SKILL.md").exists()


def test_agents_md_is_agents_md_of_the_project(isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment(agents_md="# Agents\n") as env:
        assert (env.path / "AGENTS.md").read_text() == "# Agents\n"


def test_agents_md_with_front_matter_is_a_subagent(isolator: EnvironmentIsolator) -> None:
    text = "---\ndescription: d\nname: helper\n---\nbody\n"
    with isolator.create_environment(claude_md="x", agents_md=text) as env:
        assert (env.path / ".claude/agents/helper.md").read_text() == text
        assert not (env.path / "AGENTS.md").exists()


def test_agents_md_is_imported_by_a_claude_md(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    """Claude Code reads AGENTS.md by itself only where there is no CLAUDE.md; this used to be an error."""
    (tmp_path / "CLAUDE.md").write_text("x\n")
    with isolator.create_environment(tmp_path, agents_md="# Agents\n") as env:
        assert (env.path / "AGENTS.md").read_text() == "# Agents\n"
        assert (env.path / "CLAUDE.md").read_text() == "x\n\n@AGENTS.md\n"


@pytest.mark.parametrize(("file", "link"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_a_claude_md_and_an_agents_md_that_are_one_file_become_two(
    tmp_path: Path, isolator: EnvironmentIsolator, file: str, link: str
) -> None:
    (tmp_path / file).write_text("own")
    (tmp_path / link).symlink_to(file)
    with isolator.create_environment(tmp_path, agents_md="# Agents\n") as env:
        assert (env.path / "AGENTS.md").read_text() == "# Agents\n"
        assert (env.path / "CLAUDE.md").read_text() == "own\n@AGENTS.md\n"


def test_agents_md_that_claude_md_imports_is_imported_once(isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment(claude_md="@AGENTS.md\n", agents_md="# Agents\n") as env:
        assert (env.path / "CLAUDE.md").read_text() == "@AGENTS.md\n"


def test_home_config_and_temp_folders_are_the_runs_own(isolator: EnvironmentIsolator) -> None:
    with isolator.create_environment() as env:
        for name in ("HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"):
            folder = Path(env.variables[name])
            assert folder.is_relative_to(env.temp_root)
            assert not folder.is_relative_to(env.path)
            assert folder.is_dir()


def test_runs_may_be_made_below_a_home(tmp_path: Path) -> None:
    """What such a home has for Claude Code used to be an error; e2e/test_user_configuration.py shows it stays out."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / "CLAUDE.md").write_text("leak")
    (tmp_path / "base").mkdir()
    with EnvironmentIsolator(tmp_path / "base").create_environment() as env:
        inside = ["git", "-C", str(env.path), "rev-parse"]
        assert subprocess.run(inside, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("target", ["../outside", "/etc/passwd", "nowhere"])
def test_fixture_with_a_symlink_that_leads_out_is_an_error(
    tmp_path: Path, isolator: EnvironmentIsolator, target: str
) -> None:
    (tmp_path / "outside").write_text("x")
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture/link").symlink_to(target)
    with pytest.raises(InputError, match="symlink link"):
        isolator.create_environment(tmp_path / "fixture")


def test_symlinks_inside_a_fixture_stay_symlinks(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to("a")
    with isolator.create_environment(tmp_path) as env:
        assert (env.path / "link").is_symlink()
        assert (env.path / "link").resolve() == (env.path / "a").resolve()


def test_cleanup_removes_what_the_agent_made_read_only(isolator: EnvironmentIsolator) -> None:
    env = isolator.create_environment()
    cache = env.path / "cache"
    cache.mkdir()
    (cache / "module").write_text("x")
    cache.chmod(0o500)
    env.cleanup()
    assert not env.temp_root.exists()


def test_created_modified_and_deleted_files_are_seen(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "old.md").write_text("gone\n")
    (tmp_path / "a.py").write_text("x = 1\n")

    def change(root: Path) -> None:
        (root / "a.py").write_text("x = 2\n")
        (root / "old.md").unlink()
        (root / "new.txt").write_text("hello\n")

    changes = changes_after(isolator, tmp_path, change)
    assert {path: c.action for path, c in changes.items()} == {
        "a.py": "modified",
        "new.txt": "created",
        "old.md": "deleted",
    }
    assert "-x = 1\n+x = 2" in (changes["a.py"].diff or "")
    assert "-gone" in (changes["old.md"].diff or "")
    assert changes["new.txt"].content_after == "hello\n"


def test_binary_files_are_compared_by_hash(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0one")
    changes = changes_after(isolator, tmp_path, lambda root: (root / "a.bin").write_bytes(b"\0two"))
    assert (changes["a.bin"].action, changes["a.bin"].is_binary, changes["a.bin"].diff) == (
        "modified",
        True,
        None,
    )


def test_large_files_are_compared_without_a_diff(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a.csv").write_text("1\n" * directory.MAX_TEXT_BYTES)
    changes = changes_after(
        isolator, tmp_path, lambda root: (root / "a.csv").write_text("2\n" * directory.MAX_TEXT_BYTES)
    )
    assert changes["a.csv"].diff is None


def test_a_change_of_mode_alone_is_seen(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "run.sh").write_text("x")
    changes = changes_after(isolator, tmp_path, lambda root: (root / "run.sh").chmod(0o755))
    assert changes["run.sh"].mode_change == "100644 -> 100755"


def test_diffs_are_bounded(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    changes = changes_after(isolator, tmp_path, lambda root: (root / "a").write_text("x" * 50_000))
    assert len(changes["a"].content_after or "") == directory.MAX_DIFF_CHARS
    assert changes["a"].truncated


def test_all_diffs_together_are_bounded(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    def change(root: Path) -> None:
        for number in range(80):
            (root / f"{number}").write_text("x" * 20_000)

    changes = changes_after(isolator, tmp_path, change)
    assert len(changes) == 80
    assert sum(len(c.content_after or "") for c in changes.values()) <= directory.MAX_TOTAL_CHARS


def test_symlinks_of_the_agent_are_not_followed(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    changes = changes_after(isolator, tmp_path, lambda root: (root / "link").symlink_to("/etc/passwd"))
    assert changes["link"].content_after == "-> /etc/passwd"


def test_caches_and_git_are_no_changes(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    def change(root: Path) -> None:
        for folder in (".git", "__pycache__", "node_modules/x"):
            (root / folder).mkdir(parents=True)
            (root / folder / "file").write_text("x")

    assert changes_after(isolator, tmp_path, change) == {}


def test_snapshot_gives_contents_by_path(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").write_text("x")
    assert isolator.snapshot_files(tmp_path) == {"a/b.py": "x"}


def test_patterns_narrow_what_is_looked_at(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.md").write_text("x")
    before = isolator.snapshot_files(tmp_path, ["**/*.py"])
    (tmp_path / "a.py").write_text("y")
    (tmp_path / "b.md").write_text("y")
    assert [c.path for c in isolator.diff_files(before, tmp_path, ["**/*.py"])] == ["a.py"]


def test_a_plain_mapping_of_contents_serves_as_snapshot(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    (tmp_path / "a").write_text("new\n")
    (tmp_path / "same").write_text("x")
    changes = isolator.diff_files({"a": "old\n", "same": "x"}, tmp_path)
    assert [c.path for c in changes] == ["a"]


def test_file_names_that_are_no_utf8_are_seen(tmp_path: Path, isolator: EnvironmentIsolator) -> None:
    changes = changes_after(isolator, tmp_path, lambda root: (root / "caf\udce9").write_text("x"))
    assert list(changes) == [r"caf\udce9"]


def deep(root: Path, depth: int) -> None:
    """Folders in each other, deeper than any path may be long."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("folder", dir_fd=here)
        below = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_folders_of_any_depth_are_compared_and_removed(tmp_path: Path) -> None:
    """A recursion into 1,500 of them ended the matrix."""
    isolator = EnvironmentIsolator(tmp_path)
    env = isolator.create_environment()
    before = isolator.snapshot_files(env.path)
    deep(env.path, 1500)
    (env.path / "new.txt").write_text("x")
    assert [change.path for change in isolator.diff_files(before, env.path)] == ["new.txt"]
    with pytest.raises(trees.TooLarge):
        trees.copy(env.path, tmp_path / "copy")
    env.cleanup()
    assert not env.temp_root.exists()


def test_a_folder_without_rights_is_made_readable(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o600)
    trees.make_readable(tmp_path)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_of_very_many_changed_files_the_first_are_kept_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "MAX_CHANGES", 2)
    for name in ("c", "a", "b"):
        (tmp_path / name).touch()
    changes = directory.diff({}, tmp_path)
    assert ([change.path for change in changes], changes.left_out) == (["a", "b"], 1)
