"""Behind bubblewrap a command writes nowhere but where it should, and meets nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.graders.code_graders import CodeGrader
from harness.host.processes import Finished, Limits, StopCause
from harness.sandbox.bubblewrap import Bubblewrap, works
from harness.sandbox.place import Command, SandboxError
from tests.support.suite import make_suite, matrix

pytestmark = pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or may make no namespaces here")

NO_PROGRAMS = {"PATH": "/usr/bin:/bin"}


def run(script: str, cwd: Path, *, place: Bubblewrap | None = None, seconds: float = 20.0, **more: Any) -> Finished:
    place, limits = place or Bubblewrap(), Limits(wall=seconds, grace=0.1)
    return place.run(Command(["sh", "-c", script], cwd=cwd, env=NO_PROGRAMS, limits=limits, **more))


def test_it_writes_to_its_folders_and_nowhere_else(tmp_path: Path) -> None:
    work, more = tmp_path / "work", tmp_path / "more"
    for folder in (work, more):
        folder.mkdir()
    outside = Path("/usr/written-by-a-sandbox")  # this checkout may be among the temporary files
    script = f"touch in {more}/in; touch {outside} /etc/written-by-a-sandbox; ls"
    finished = run(script, work, writes=[more])
    assert finished.stdout == b"in\n"
    assert (more / "in").exists()
    assert finished.stderr.count(b"Read-only file system") == 2
    assert not outside.exists()


def test_temporary_files_of_others_are_out_of_sight_and_its_own_are_gone_afterwards(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.write_text("secret")
    assert run(f"cat {other}", work).returncode == 1
    mark = Path("/tmp/left-by-a-sandbox")
    assert run(f"touch {mark} && ls {mark}", work).returncode == 0
    assert not mark.exists()


def test_the_folder_for_temporary_files_may_be_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(__file__).parents[1] / "fixtures"
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert run(f"ls {place} | wc -l", tmp_path).stdout == b"0\n"


def test_what_it_needs_to_read_stays_in_sight(tmp_path: Path) -> None:
    work, given = tmp_path / "work", tmp_path / "given"
    work.mkdir()
    given.write_text("servers")
    finished = run(f"cat {given}; echo x > {given}", work, reads=[given])
    assert finished.stdout == b"servers"
    assert given.read_text() == "servers"


def test_what_is_hidden_is_not_there(tmp_path: Path) -> None:
    hidden, file = Path("/usr/share"), Path("/etc/passwd")
    place = Bubblewrap()
    assert run(f"ls {hidden} | wc -l", tmp_path, place=place).stdout != b"0\n"
    place.hide([hidden, file])
    assert run(f"ls {hidden} | wc -l; cat {file}", tmp_path, place=place).stdout == b"0\n"


def test_it_sees_and_ends_no_process_of_others(tmp_path: Path) -> None:
    finished = run(f"kill -0 {os.getpid()} 2>/dev/null; echo $?; ls /proc | grep -c '^[0-9]'", tmp_path)
    told, seen = finished.stdout.split()
    assert told != b"0"
    assert int(seen) < 8


def test_what_it_leaves_running_ends_with_it(tmp_path: Path) -> None:
    run(f"setsid -f env -i sh -c 'sleep 1; touch {tmp_path}/late'", tmp_path)
    subprocess.run(["sleep", "1.3"], check=True)
    assert not list(tmp_path.iterdir())


def test_a_limit_ends_it(tmp_path: Path) -> None:
    assert run("sleep 60", tmp_path, seconds=0.5).cause is StopCause.TIMEOUT


def test_exit_codes_are_those_of_the_command(tmp_path: Path) -> None:
    assert [run(f"exit {code}", tmp_path).returncode for code in (0, 1, 77)] == [0, 1, 77]


def test_a_command_that_speaks_as_bubblewrap_has_failed_like_any_other(tmp_path: Path) -> None:
    assert run("echo 'bwrap: no namespaces' >&2; exit 1", tmp_path).returncode == 1


def test_a_fence_that_cannot_be_made_is_no_failure_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="bwrap: "):
        run("true", tmp_path, writes=[tmp_path.parent / "not there"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could")
def test_root_mounts_nothing(tmp_path: Path) -> None:
    assert run("mount -o remount,rw / || mount -t tmpfs x /mnt", tmp_path).returncode != 0


def test_checks_run_behind_it_where_it_works(tmp_path: Path) -> None:
    outside = Path(__file__).parent / "written-by-a-check"
    grade = CodeGrader().grade_command_succeeds(tmp_path, f"touch {outside}")
    assert not grade.passed
    assert not outside.exists()


def test_checks_do_not_see_the_solution(tmp_path: Path) -> None:
    fixture, solution, hidden, work = (tmp_path / name for name in ("fixture", "solution", "hidden", "work"))
    for folder in (fixture, solution, hidden, work):
        folder.mkdir()
        (folder / "f").write_text(folder.name)
    place = Bubblewrap()
    code = CodeGrader(hidden, fixture_path=fixture, solution_path=solution, sandbox=place)
    assert code.grade_command_succeeds(work, f"grep hidden f && test ! -s {solution}/f && test ! -s {hidden}/f").passed


def test_where_it_does_not_work_it_is_refused_in_one_line(tmp_path: Path) -> None:
    nothing = tmp_path / "bin"
    nothing.mkdir()
    for name in ("bash", "env", "python3"):
        (nothing / name).symlink_to(sys.executable if name == "python3" else f"/usr/bin/{name}")
    shown = matrix(make_suite(tmp_path / "s"), "--sandbox", "bubblewrap", PATH=str(nothing))
    assert (shown.returncode, len(shown.stderr.splitlines())) == (2, 1), shown.stderr
    assert "install bubblewrap" in shown.stderr
