"""Where a run happens: a throw-away home and project that hold what the config gives and no more."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from harness.claude.environment import INSTRUCTIONS_LOG_VARIABLE
from harness.claude.layout import AGENTS_MD_RULE
from harness.errors import IsolationError
from harness.host import directory, scratch, trees
from harness.models import FileChange
from harness.suite.resolved import agent_name
from harness.suite.skills import Skill, find_skills


@dataclass(frozen=True)
class IsolatedEnv:
    """A run's directories; a context manager that removes them."""

    path: Path
    """Working directory of the agent."""
    temp_root: Path
    """Everything of the run, the home included."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that send the agent to these directories; give them as env_override."""

    def cleanup(self) -> None:
        """Remove the whole temp root, whatever modes the agent left."""
        scratch.remove(self.temp_root)

    def keep_project(self) -> Path:
        """Remove everything but the project, which stays where it is; returns its path."""
        for item in self.temp_root.iterdir():
            if item != self.path:
                trees.remove(item) if item.is_dir() and not item.is_symlink() else item.unlink()
        scratch.keep(self.temp_root)
        return self.path

    def __enter__(self) -> IsolatedEnv:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.cleanup()


class EnvironmentIsolator:
    """Creates isolated environments for evaluation runs."""

    def __init__(self, base_dir: Path | str | None = None) -> None:
        """`base_dir`: where temp roots are made; default the system's temp folder."""
        self.base_dir = None if base_dir is None else Path(base_dir).expanduser()

    def create_environment(
        self,
        fixture_path: Path | str | None = None,
        claude_md: str | None = None,
        skills_path: Path | str | None = None,
        agents_md: str | None = None,
        *,
        skills: Sequence[Skill] | None = None,
    ) -> IsolatedEnv:
        """Copy the fixture and put CLAUDE.md, skills and agents into it, as project files only.

        Args:
            fixture_path: Project to copy; None is an empty one.
            claude_md: Content of CLAUDE.md.
            skills_path: A skill folder, or a folder of them, that is looked through here.
            agents_md: Content of AGENTS.md, or of a subagent when it has the front matter of one.
            skills: The skills of a resolved config; `skills_path` is not looked at then.

        Raises:
            IsolationError: The fixture or a skill is missing or leads outside by a symlink.
        """
        root = scratch.new(base=self.base_dir)
        try:
            # Claude Code takes this for the root of a repository, and reads no skills, agents and commands above it;
            # git does not, since the folder is empty. Memory files above are shut out by the executor.
            (root / ".git").mkdir()
            project = root / "project"
            if fixture_path is None:
                project.mkdir()
            else:
                _copy_fixture(Path(fixture_path).expanduser().resolve(), project)
            if claude_md is not None:
                (project / "CLAUDE.md").write_text(claude_md, encoding="utf-8")
            for skill in skills if skills is not None else find_skills(Path(skills_path)) if skills_path else ():
                shutil.copytree(skill.path, project / ".claude/skills" / skill.path.name, dirs_exist_ok=True)
            if agents_md is not None:
                _write_agents(project, agents_md)
            return IsolatedEnv(project, root, _variables(root))
        except BaseException:
            scratch.remove(root)
            raise

    def create_environment_for_task(
        self,
        task_fixture: Path | str | None,
        claude_md: str | None = None,
        skills_path: Path | str | None = None,
        agents_md: str | None = None,
        *,
        skills: Sequence[Skill] | None = None,
    ) -> IsolatedEnv:
        """The same for the fixture of a task."""
        return self.create_environment(task_fixture, claude_md, skills_path, agents_md, skills=skills)

    def snapshot_files(self, env_path: Path | str, patterns: list[str] | None = None) -> dict[str, str]:
        """Content of every file before the run, by relative path; binary and large files as a hash.

        `patterns` are globs such as `**/*.py`; None takes everything but caches and .git.
        """
        return directory.snapshot(Path(env_path), patterns)

    def diff_files(
        self, before: dict[str, str], env_path: Path | str, patterns: list[str] | None = None
    ) -> list[FileChange]:
        """What was created, modified (content or mode) or deleted since `before`, sorted by path."""
        return directory.diff(before, Path(env_path), patterns)


def _copy_fixture(fixture: Path, project: Path) -> None:
    if not fixture.is_dir():
        raise IsolationError(f"fixture {fixture} is not a directory; correct fixture_path in the task file")
    link = trees.escaping_symlink(fixture)
    if link is not None:
        raise IsolationError(f"fixture {fixture}: symlink {link} leads outside or nowhere; replace it by a file")
    trees.copy(fixture, project)


def _write_agents(project: Path, agents_md: str) -> None:
    name = agent_name(agents_md)
    if name is not None:
        agents = project / ".claude/agents"
        agents.mkdir(parents=True, exist_ok=True)
        (agents / f"{name}.md").write_text(agents_md, encoding="utf-8")
        return
    (project / "AGENTS.md").write_text(agents_md, encoding="utf-8")
    memory = [path for name in ("CLAUDE.md", ".claude/CLAUDE.md") if (path := project / name).is_file()]
    # Claude Code reads AGENTS.md by itself only where there is no CLAUDE.md.
    if memory and not any("@AGENTS.md" in path.read_text(encoding="utf-8", errors="replace") for path in memory):
        rule = project / AGENTS_MD_RULE
        rule.parent.mkdir(parents=True, exist_ok=True)
        rule.write_text("@../../AGENTS.md\n", encoding="utf-8")


def _variables(root: Path) -> dict[str, str]:
    """Home and its kin, and the file where the CLI is to note the memory files it loads."""
    home = root / "home"
    folders = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local/share",
        "XDG_STATE_HOME": home / ".local/state",
        "TMPDIR": root / "tmp",
    }
    log = root / "log"  # a folder, since a container is given folders: nothing else of ours is in sight there
    for folder in (*folders.values(), log):
        folder.mkdir(parents=True, exist_ok=True)
    return {
        **{name: str(folder) for name, folder in folders.items()},
        INSTRUCTIONS_LOG_VARIABLE: str(log / "instructions.jsonl"),
    }
