"""Temporary home and project folders of a run, with only what the config provides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.executor.base import Layout
from harness.executor.claude.layout import lay_out as claude_layout
from harness.sandbox import directory, scratch, trees
from harness.suite.skills import Skill, find_skills
from locobench.shared.errors import InputError
from measure.records import FileChange


@dataclass(frozen=True)
class IsolatedEnv:
    """The directories of one run. As a context manager, removes them on exit."""

    path: Path
    """Working directory of the agent."""
    temp_root: Path
    """Root of all directories of the run, including its home."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that point the agent to these directories; pass them as env_override."""

    def cleanup(self) -> None:
        """Remove the whole temp root, even where the agent changed file modes."""
        scratch.remove(self.temp_root)

    def keep_project(self) -> Path:
        """Remove everything except the project, and return its path. It stays until this process ends."""
        for item in self.temp_root.iterdir():
            if item != self.path:
                trees.remove(item) if item.is_dir() and not item.is_symlink() else item.unlink()
        return self.path

    def __enter__(self) -> IsolatedEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()


class EnvironmentIsolator:
    """Creates isolated environments for evaluation runs."""

    def __init__(self, base_dir: Path | str | None = None) -> None:
        """`base_dir`: where temp roots are created; created on first use. Default: the system's temp folder."""
        self.base_dir = None if base_dir is None else Path(base_dir).expanduser()
        if self.base_dir is not None:
            scratch.other_places.add(self.base_dir.resolve())

    def create_environment(
        self,
        fixture_path: Path | str | None = None,
        claude_md: str | None = None,
        skills_path: Path | str | None = None,
        agents_md: str | None = None,
        *,
        skills: Sequence[Skill] | None = None,
        layout: Layout = claude_layout,
    ) -> IsolatedEnv:
        """Copy the fixture and put memory, skills and agents into it, as project files only.

        Args:
            fixture_path: Project to copy; None starts with an empty project.
            claude_md: Content of CLAUDE.md.
            skills_path: A skill folder, or a folder of skill folders.
            agents_md: Content of AGENTS.md, or of a subagent if it has a subagent's front matter.
            skills: The skills of a resolved config; `skills_path` is then ignored.
            layout: Writes the agent's own files; default Claude Code's.

        InputError if the fixture or a skill is missing, a link leads outside, or `base_dir` is not writable.
        """
        try:
            if self.base_dir is not None:
                self.base_dir.mkdir(parents=True, exist_ok=True)
            root = scratch.new(base=self.base_dir)
        except OSError as error:
            where = self.base_dir or "the folder for temporary files"
            raise InputError(f"{where}: cannot be written ({error.strerror}); name another base_dir") from error
        try:
            # Claude Code takes this for the root of a repository and reads no skills, agents or commands above it.
            # Git does not, since the folder is empty. The executor excludes memory files above it.
            (root / ".git").mkdir()
            project = root / "project"
            if fixture_path is None:
                project.mkdir()
            else:
                _copy_fixture(Path(fixture_path).expanduser().resolve(), project)
            if skills is None:
                skills = find_skills(Path(skills_path)) if skills_path else ()
            home, variables = _folders(root)
            own = layout(project, home, claude_md, agents_md, skills)
            return IsolatedEnv(project, root, variables | own)
        except BaseException:
            scratch.remove(root)
            raise

    def create_environment_for_task(
        self,
        task_fixture: Path | str | None,
        claude_md: str | None = None,
        skills_path: Path | str | None = None,
        agents_md: str | None = None,
    ) -> IsolatedEnv:
        """Like `create_environment`, for the fixture of a task."""
        return self.create_environment(task_fixture, claude_md, skills_path, agents_md)

    def snapshot_files(self, env_path: Path | str, patterns: list[str] | None = None) -> dict[str, str]:
        """Return the content of every file by relative path; binary and large files are hashed.

        `patterns` are globs such as `**/*.py`; None takes everything except caches and .git.
        """
        return directory.snapshot(Path(env_path), patterns)

    def diff_files(
        self, before: dict[str, str], env_path: Path | str, patterns: list[str] | None = None
    ) -> list[FileChange]:
        """Return what was created, modified (content or mode) or deleted since `before`, sorted by path."""
        return directory.diff(before, Path(env_path), patterns)


def _copy_fixture(fixture: Path, project: Path) -> None:
    if not fixture.is_dir():
        raise InputError(f"fixture {fixture} is not a directory; correct fixture_path in the task file")
    link = trees.escaping_symlink(fixture)
    if link is not None:
        raise InputError(f"fixture {fixture}: symlink {link} leads outside or nowhere; replace it by a file")
    trees.copy(fixture, project)


def _folders(root: Path) -> tuple[Path, dict[str, str]]:
    """Create an empty home and folder for temporary files; return the home, and the variables that name them."""
    home = root / "home"
    folders = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local/share",
        "XDG_STATE_HOME": home / ".local/state",
        "TMPDIR": root / "tmp",
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return home, {name: str(folder) for name, folder in folders.items()}
