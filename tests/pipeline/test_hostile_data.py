"""What strangers put into a data folder, and faults of the machine: nothing gets in from outside, nothing is left half.

Broken scenario files are in test_extract_dataset.py, links and special files in test_project.py, killed runs in
test_run_adapter.py, data of any shape in test_properties.py.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adapter import LoCoBenchAdapter, LoCoBenchLoader, TaskOutcome
from locobench.dataset.benchmark import parse_id
from locobench.dataset.catalog import DIFFICULTIES, TEMPLATES
from locobench.generate.project import Project
from select_tasks import CATEGORY_BONUSES
from tests.conftest import Script
from tests.support.data_builder import CATEGORY, FILES, PROJECT, Data, extract, tree
from tests.support.invariants import check_task
from tests.support.strategies import SECRET

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534
needs_root = pytest.mark.skipif(not IS_ROOT, reason="needs root")


def generate(data: Data, tmp_path: Path) -> list[TaskOutcome]:
    """Extract and generate everything in `data` to tmp_path/tasks, in this process."""
    assert extract(data.folder, tmp_path / "d.jsonl").failures == []
    (tmp_path / "tasks").mkdir(exist_ok=True)
    tasks = LoCoBenchLoader(tmp_path / "d.jsonl")
    return list(LoCoBenchAdapter(tasks, tmp_path / "tasks", data.folder).generate(tasks.all_ids()))


def run_all(
    data: Data, tmp_path: Path, script: Script, output_dir: Path, *flags: str
) -> subprocess.CompletedProcess[str]:
    """Extract and generate everything in `data` by the scripts."""
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl", "--quiet")
    return script(
        "run_adapter.py", "--data_dir", data.folder, "--dataset_path", tmp_path / "d.jsonl",
        "--output_dir", output_dir, *flags,
    )  # fmt: skip


END = f"{CATEGORY}_easy_01"


@pytest.mark.parametrize(
    "scenario_id",
    [
        f"../{PROJECT}_{END}", f"/{PROJECT}_{END}", f"{PROJECT}/../x_{END}", f"{PROJECT}\0_{END}",
        f"{PROJECT}_{END}\n", f"python_\n_{END}", f"{PROJECT}_{END} ", f"-{PROJECT}_{END}", f".{PROJECT}_{END}",
        f"Python_web_shop_easy_001_{END}", f"pyth\u043en_web_shop_easy_001_{END}", f"{PROJECT}_{END[:-1]}\u0661",
        f"python_{'a' * 300}_{END}", "con", "nul", "python", f"python_{END}_", f"__{END}", "",
        f"{PROJECT}_poetry_easy_01",
    ],
)  # fmt: skip
def test_id_that_is_no_plain_name_is_refused(scenario_id: str) -> None:
    with pytest.raises(ValueError, match=r"plain name|does not end in"):
        parse_id(scenario_id, CATEGORY)


def test_every_id_is_a_plain_name_in_lower_case_so_that_no_two_collide_anywhere() -> None:
    for category in CATEGORY_BONUSES:
        for difficulty in DIFFICULTIES:
            scenario_id = f"{PROJECT}_{category}_{difficulty}_01"
            assert parse_id(scenario_id, category)["project_id"] == PROJECT
            assert scenario_id == scenario_id.casefold()


def test_context_files_that_lead_out_are_only_counted(data: Data, tmp_path: Path) -> None:
    data.project()
    (data.folder / "secret").write_text(SECRET)
    lost = [
        "../../secret", f"../{PROJECT}/shop/src/basket.py", "/etc/passwd", "shop/../shop/src/basket.py", "a\0b", "a\nb",
        "x" * 300, "shop/src/Basket.py", "shop/src/b\u0430sket.py", "shop/src/./basket.py", "CON", "", ".",
    ]  # fmt: skip
    scenario = data.scenario(context_files=["shop/src/basket.py", *lost])
    (outcome,) = generate(data, tmp_path)
    assert outcome.status == "written"
    assert len(outcome.missing) == len(lost)
    metadata = json.loads((tmp_path / "tasks" / scenario / "tests" / "task_metadata.json").read_bytes())
    assert metadata["context_files"] == ["src/basket.py"]
    assert not any(SECRET.encode() in content for content in tree(tmp_path / "tasks").values())


def test_warning_is_one_line_whatever_a_name_holds(data: Data, tmp_path: Path, script: Script) -> None:
    shop = data.project() / "shop"
    (shop / "two\nlines \x1b[31m \u202e").symlink_to("/etc/passwd")
    (shop / os.fsdecode(b"not utf-8 \xff")).symlink_to("/etc/passwd")
    scenario = data.scenario(context_files=["shop/src/basket.py", "gone\nforged: written", "gone\x1b[2J"])
    done = run_all(data, tmp_path, script, tmp_path / "tasks")
    assert done.returncode == 0
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [*[scenario] * 2, "Generating"]
    assert "gone\\nforged: written, gone\\x1b[2J\n" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.stderr + done.stdout)
    assert "two\\nlines \\x1b[31m" in done.stderr


def test_refused_file_is_named_in_one_line_whatever_its_name_holds(data: Data, tmp_path: Path, script: Script) -> None:
    data.scenario()
    data.raw("forged\n\x1b[2Jline.json", "{}")
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl", "--quiet")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "forged\\n\\x1b[2Jline.json: id:" in done.stderr


def test_scenarios_that_are_no_files_are_refused(data: Data, tmp_path: Path) -> None:
    folder = data.raw("readable.json", "{}").parent
    (folder / "folder.json").mkdir()
    (folder / "loop.json").symlink_to("loop.json")
    reasons = {path.stem: reason for path, reason in extract(data.folder, tmp_path / "d.jsonl").failures}
    assert reasons["folder"] == "cannot be read: Is a directory"
    assert reasons["loop"].startswith("cannot be read: ")


def test_repeated_key_counts_by_its_last_value_as_json_readers_have_it(data: Data, tmp_path: Path) -> None:
    scenario = data.scenario()
    path = data.folder / "output" / "scenarios" / f"{scenario}.json"
    path.write_text(path.read_text()[:-2] + ', "title": "first", "title": "last"}')
    extract(data.folder, tmp_path / "d.jsonl")
    assert json.loads((tmp_path / "d.jsonl").read_bytes())["title"] == "last"


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"tasks": [{"id": [1]}]}', b"\xff", b'{"tasks": {}}', b"null"])
def test_selection_that_is_none_is_one_line_and_exit_code_2(
    data: Data, tmp_path: Path, script: Script, content: bytes
) -> None:
    data.scenario()
    (tmp_path / "s.json").write_bytes(content)
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl", "--quiet")
    done = script(
        "run_adapter.py", "--data_dir", data.folder, "--dataset_path", tmp_path / "d.jsonl", "--output_dir",
        tmp_path / "tasks", "--selected_tasks", tmp_path / "s.json", "--quiet",
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_files_named_like_parts_of_a_task_stay_in_the_project(data: Data, tmp_path: Path) -> None:
    shipped = [
        "tests/test.sh", "tests/verify.py", "tests/ground_truth.json", "solution/solve.sh", "solution.md", "Dockerfile",
        "instruction.md", "task.toml", ".dockerignore", ".gitignore", ".gitattributes", "environment/Dockerfile",
        "project/x", "task_metadata.json",
    ]  # fmt: skip
    data.project({**dict.fromkeys(shipped, "theirs"), **FILES}, root="")
    scenario = data.scenario(root="")
    (outcome,) = generate(data, tmp_path)
    found = tree(tmp_path / "tasks" / scenario)
    assert outcome.warnings == ()
    assert {path for path, content in found.items() if content == b"theirs"} == {
        f"environment/project/{path}" for path in shipped
    }
    # Docker reads this file only beside the Dockerfile: what the project would have left out is carried.
    assert "environment/.dockerignore" not in found


def test_names_that_differ_in_case_or_in_their_unicode_form_are_different_files(data: Data, tmp_path: Path) -> None:
    names = [
        "Readme.md",
        "readme.md",
        "caf\u00e9",
        "cafe\u0301",
        "a.py",
        "\u0430.py",
        "back\\slash",
        " ",
        "-rf",
        "$(id)",
    ]
    data.project({**{name: name for name in names}, **FILES}, root="")
    if len({name.casefold() for name in os.listdir(data.folder / "generated" / PROJECT)}) < len(names) - 1:  # noqa: PTH208
        pytest.skip("this file system folds names")
    scenario = data.scenario(root="")
    generate(data, tmp_path)
    project = tmp_path / "tasks" / scenario / "environment" / "project"
    assert {name: (project / name).read_text() for name in names} == {name: name for name in names}


def test_hard_links_become_files_of_their_own(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    (shop / "twin.py").hardlink_to(shop / "src" / "basket.py")
    scenario = data.scenario()
    generate(data, tmp_path)
    copies = [tmp_path / "tasks" / scenario / "environment" / "project" / name for name in ("twin.py", "src/basket.py")]
    assert [path.stat().st_nlink for path in copies] == [1, 1]
    assert copies[0].read_bytes() == copies[1].read_bytes()


def test_special_permissions_are_not_copied(data: Data, tmp_path: Path) -> None:
    (data.project() / "shop" / "src" / "basket.py").chmod(0o6777)
    scenario = data.scenario()
    generate(data, tmp_path)
    copy = tmp_path / "tasks" / scenario / "environment" / "project" / "src" / "basket.py"
    assert stat.S_IMODE(copy.stat().st_mode) & ~0o755 == 0
    assert os.access(copy, os.X_OK)


def test_project_folder_that_is_a_link_is_refused(data: Data, tmp_path: Path) -> None:
    data.project()
    (data.folder / "generated" / PROJECT).rename(tmp_path / "elsewhere")
    (data.folder / "generated" / PROJECT).symlink_to(tmp_path / "elsewhere")
    data.scenario()
    (outcome,) = generate(data, tmp_path)
    assert outcome.status == "failed"
    assert f"{PROJECT}: is a symbolic link" in outcome.reason
    assert {path.name for path in (tmp_path / "tasks").iterdir()} == set()


@needs_root
def test_device_files_are_left_out(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    try:
        os.mknod(shop / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except OSError:
        pytest.skip("no device files can be made here")
    data.scenario()
    (outcome,) = generate(data, tmp_path)
    assert outcome.status == "written"
    assert outcome.warnings == ("left out shop/zero: neither a file nor a folder",)


def test_code_with_control_characters_and_names_that_are_no_text_make_sound_tasks(data: Data, tmp_path: Path) -> None:
    data.project({**FILES, "src/odd.py": "def warm_start\x01(): ...\n\x01\n", "\udcff\udcfe": "PriceCache\n"})
    scenario = data.scenario()
    (outcome,) = generate(data, tmp_path)
    assert outcome.status == "written"
    check_task(tmp_path / "tasks" / scenario)


def test_link_to_a_folder_is_no_context_file(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    (shop / "all").symlink_to("src")
    mapping = Project.scan(shop.parent).mapping(["shop/src/basket.py", "shop/all"])
    assert mapping.context_files == ("src/basket.py",)
    assert mapping.missing == ("shop/all",)
    assert "all" in mapping.paths


@pytest.mark.slow
def test_twenty_thousand_tiny_files_arrive(data: Data, tmp_path: Path) -> None:
    shop = data.project() / "shop"
    for folder in range(20):
        (shop / f"f{folder}").mkdir()
        first = shop / f"f{folder}" / "0"
        first.write_text("x")
        for number in range(1, 1000):
            os.link(first, f"{shop}/f{folder}/{number}")
    mapping = Project.scan(shop.parent).mapping(["shop/src/basket.py"])
    mapping.copy_to(tmp_path / "copy")
    assert sum(len(files) for _, _, files in os.walk(tmp_path / "copy")) == 20_000 + len(FILES)


def test_folders_nested_beyond_what_a_path_may_hold_fail_that_task_only(data: Data, tmp_path: Path) -> None:
    data.project(name="c_os_medium_002")
    good, deep = data.scenario(project="c_os_medium_002"), data.scenario()
    here = os.open(data.project(), os.O_RDONLY)
    top = here
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=here)
        here = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
    outcomes = {outcome.task_id: outcome for outcome in generate(data, tmp_path)}
    assert outcomes[good].status == "written"
    assert outcomes[deep].status == "failed"
    assert "File name too long" in outcomes[deep].reason
    assert {path.name for path in (tmp_path / "tasks").iterdir()} == {good}
    # shutil.rmtree of older Pythons cannot take such a tree away by its path.
    subprocess.run(["rm", "-rf", "d" * 200], cwd=data.folder / "generated" / PROJECT, check=True)
    os.close(top)


def test_source_file_that_vanishes_fails_that_task_and_leaves_nothing(data: Data, tmp_path: Path) -> None:
    folder = data.project()
    scenario = data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    (tmp_path / "tasks").mkdir()
    adapter = LoCoBenchAdapter(LoCoBenchLoader(tmp_path / "d.jsonl"), tmp_path / "tasks", data.folder)
    project = Project.scan(folder)
    assert project.content
    (folder / "shop" / "src" / "shipping.py").unlink()
    with pytest.raises(FileNotFoundError, match=r"shipping\.py"):
        adapter.generate_task(scenario, project=project)
    assert list((tmp_path / "tasks").iterdir()) == []


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[None]:
    """Run a test without the superuser's right to read everything."""
    if not IS_ROOT:
        yield
        return
    for folder in (tmp_path, *tmp_path.parents):
        if (
            folder.stat().st_uid == 0
            and not folder.stat().st_mode & stat.S_IXOTH
            and folder.name.startswith(("pytest-", "popen-"))
        ):
            folder.chmod(0o711)
    tmp_path.chmod(0o777)
    os.seteuid(NOBODY)
    try:
        if not os.access(TEMPLATES / "instruction.md.j2", os.R_OK, effective_ids=True):
            pytest.skip("this checkout can be read by root only")
        yield
    finally:
        os.seteuid(0)


def test_file_without_permission_fails_its_tasks_only(data: Data, tmp_path: Path, unprivileged: None) -> None:
    closed, good = data.scenario(), data.scenario(project="c_os_medium_002")
    data.project(name="c_os_medium_002")
    (data.project() / "shop" / "src" / "orders.py").chmod(0)
    outcomes = {outcome.task_id: outcome for outcome in generate(data, tmp_path)}
    assert outcomes[good].status == "written"
    assert (outcomes[closed].status, outcomes[closed].reason) == (
        "failed", f"{data.folder}/generated/{PROJECT}/shop/src/orders.py: Permission denied",
    )  # fmt: skip
    assert {path.name for path in (tmp_path / "tasks").iterdir()} == {good}


def test_scenario_without_permission_is_skipped(data: Data, tmp_path: Path, unprivileged: None) -> None:
    good, closed = data.scenario(), data.scenario(number=2)
    path = data.folder / "output" / "scenarios" / f"{closed}.json"
    path.chmod(0)
    found = extract(data.folder, tmp_path / "d.jsonl")
    assert found.failures == [(path, "cannot be read: Permission denied")]
    assert found.written == 1
    assert good in (tmp_path / "d.jsonl").read_text()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 1 MB of its own."""
    if not IS_ROOT or shutil.which("mount") is None:
        pytest.skip("needs root and mount")
    folder = Path(tempfile.mkdtemp(prefix="small-disk-"))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        folder.rmdir()
        pytest.skip(f"no mounting here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        with suppress(OSError):
            folder.rmdir()


def test_full_disk_leaves_whole_tasks_and_a_rerun_with_space_finishes(
    data: Data, tmp_path: Path, script: Script, small_disk: Path
) -> None:
    for number in range(4):
        data.project({"big.bin": b"x" * 300_000, **FILES}, name=f"go_web_{number}_easy_001")
        data.scenario(project=f"go_web_{number}_easy_001")
    done = run_all(data, tmp_path, script, small_disk / "tasks", "--quiet")
    written = sorted(path.name for path in (small_disk / "tasks").iterdir() if not path.name.startswith("."))
    assert done.returncode == 1
    assert 0 < len(written) < 4
    assert done.stderr.count("No space left on device; not written\n") == done.stderr.count("\n") == 4 - len(written)
    assert {path.name for path in (small_disk / "tasks").iterdir()} == set(written)
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    again = run_all(data, tmp_path, script, small_disk / "tasks", "--quiet")
    assert (again.returncode, again.stderr) == (0, "")
    run_all(data, tmp_path, script, tmp_path / "undisturbed", "--quiet")
    ours = {path: content for path, content in tree(small_disk / "tasks").items() if not path.startswith(".")}
    assert ours == {
        path: content for path, content in tree(tmp_path / "undisturbed").items() if not path.startswith(".")
    }


def test_full_disk_keeps_the_older_dataset(data: Data, tmp_path: Path, script: Script, small_disk: Path) -> None:
    data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", small_disk / "d.jsonl")
    before = (small_disk / "d.jsonl").read_bytes()
    for number in range(2, 5):
        data.scenario(number=number, description="x" * 500_000)
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", small_disk / "d.jsonl", "--quiet")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr
    assert {path.name: path.read_bytes() for path in small_disk.iterdir()} == {"d.jsonl": before}


def test_read_only_target_is_one_line_and_exit_code_2(
    data: Data, tmp_path: Path, script: Script, small_disk: Path
) -> None:
    data.project()
    data.scenario()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = run_all(data, tmp_path, script, small_disk / "tasks", "--quiet")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Read-only file system" in done.stderr
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", small_disk / "d.jsonl", "--quiet")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Read-only file system" in done.stderr
