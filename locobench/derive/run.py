"""Derive a data folder from repositories: choose the questions, write scenarios and projects, and a page about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from locobench.derive import questions, scenarios
from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.scope import Scope, scopes, texts
from locobench.derive.code.tree import Repository, Tree
from locobench.derive.history import Change, History, grep_for
from locobench.derive.kinds import AGREEMENT, HARD, KINDS, STRUCTURE, is_checked
from locobench.derive.page import page
from locobench.derive.report import Asked, Choice, LanguageReport, Report
from locobench.derive.resolve.strict import Resolver, Strict
from locobench.derive.structure import Finding, Structure
from locobench.shared.errors import InputError

FEWEST_FILES = 3
"""An answer spans at least three files."""

Watch = Callable[[Iterable[tuple[str, bytes]], int, str], Iterator[tuple[str, bytes]]]


def derive(paths: Sequence[Path], output_dir: Path, choice: Choice, watch: Watch) -> list[Report]:
    """Derive questions from repositories and write them to a data folder, whole or not at all.

    Args:
        watch: passes files through and may show progress.

    Returns:
        A report per repository. If none yields a question, nothing is written.

    Raises:
        InputError: a repository cannot be read, or the folder cannot be written.
    """
    repositories = [Repository(path) for path in paths]
    if choice.scip and len(repositories) != 1:
        raise InputError("--scip: an index is of one repository; name one")
    reports = []
    taken: Counter[str] = Counter()
    with scenarios.Folder(output_dir) as folder:
        for repository in repositories:
            domain = scenarios.plain_name(repository.name)
            taken[domain] += 1
            domain += f"_{taken[domain]}" if taken[domain] > 1 else ""
            reports.append(_Deriver(repository, domain, choice, folder, watch).run())
        if any(report.asked for report in reports):
            folder.finish(page(reports, choice), _summary(reports))
    return reports


def _summary(reports: Sequence[Report]) -> dict[str, Any]:
    return {
        "generator": "locobench-harbor",
        "repositories": [
            {"name": report.name, "commit": report.commit, "questions": len(report.asked), "tier": report.tier}
            for report in reports
        ],
    }


class _Deriver:
    """Derives the questions of one repository."""

    def __init__(
        self, repository: Repository, domain: str, choice: Choice, folder: scenarios.Folder, watch: Watch
    ) -> None:
        self.repository, self.domain, self.choice = repository, domain, choice
        self.folder, self.watch = folder, watch
        self.numbers: Counter[str] = Counter()
        self.root = repository.name.replace("/", "_")

    def run(self) -> Report:
        repository, choice = self.repository, self.choice
        commit = repository.commit(choice.revision)
        tree = repository.tree(commit)
        found, unknown = scopes(tree, with_tests=choice.with_tests)
        report = Report(repository.name, commit, unknown=unknown, submodules=len(tree.submodules))
        if tree.submodules:
            report.notes.append(
                f"{len(tree.submodules)} submodules are not looked into: {', '.join(tree.submodules[:3])}"
            )
        wanted = [scope for name, scope in sorted(found.items()) if not choice.languages or name in choice.languages]
        largest = max(wanted, key=lambda scope: sum(blob.size for blob in scope.blobs), default=None)
        for scope in wanted:
            own = LanguageReport(scope.language.name, left_out=scope.left_out)
            report.languages.append(own)
            if len(scope.blobs) >= FEWEST_FILES:
                self._structure(scope, tree, report, own)
            else:
                own.files = len(scope.blobs)
                own.not_asked["fewer than three files"] += 1
            if scope is largest and choice.history:
                self._history(scope, commit, report, own)
        if choice.scip and report.tier != "scip":
            raise InputError(
                f"{choice.scip}: says nothing of the files of {repository.folder}; --scip wants its own index"
            )
        return report

    def _structure(self, scope: Scope, tree: Tree, report: Report, own: LanguageReport) -> None:
        language = scope.language
        label = f"Reading {self.repository.name} ({language.title})"
        files = self.watch(texts(self.repository, scope), len(scope.blobs), label)
        index = build(language, files, with_tests=self.choice.with_tests)
        own.left_out += index.left_out
        own.files, own.lines = len(index.files), sum(text.count(b"\n") for text in index.texts)
        own.symbols = len(index.symbols)
        structure = Structure(index, self._resolver(index, report))
        chosen, reasons = questions.choose(structure.findings(), _listings(index), self.choice.max_questions)
        own.reasons, own.not_asked = structure.reasons, reasons
        if not any(not KINDS[one.kind].control for one in chosen):
            return
        project_id = self._project(language.name, own.lines, tree, index.files)
        characters = sum(len(text.decode("utf-8", "replace")) for text in index.texts)
        names = {
            path: [index.symbols[one].qualified for one in index.items_in(n)] for n, path in enumerate(index.files)
        }
        for one in chosen:
            derived = {
                **self._derived(one.kind, language.name, one.tier, one.grep_f1, own),
                "greps": len(one.asked), "hits": structure.read(one), "depth": one.depth,
                "items": len(one.answer), "files": one.files,
            }  # fmt: skip
            truth = {
                "measure": "path" if one.kind == "call_path" else "f1",
                "items": list(one.answer),
                "names": _names_of(one.answer, names),
                "edges": [list(edge) for edge in one.edges],
                "grep": list(one.grep),
            }
            question = questions.asked(one, language, with_tests=self.choice.with_tests)
            self._write(report, project_id, STRUCTURE, question, index.files, characters, truth, derived, language.name)

    def _resolver(self, index: Index, report: Report) -> Resolver:
        if self.choice.scip is None:
            return Strict(index)
        from locobench.derive.resolve.scip import read_index

        resolver = read_index(self.choice.scip, index)
        if resolver is None:
            return Strict(index)
        report.tier = "scip"
        return resolver

    def _history(self, scope: Scope, commit: str, report: Report, own: LanguageReport) -> None:
        if self.repository.is_shallow:
            report.notes.append("the clone is shallow: its history is looked at as far as it goes")
        history = History(self.repository, scope.language)
        # Read more than are needed: a single grep answers some of them.
        asked = 0
        for change in history.changes(commit, 3 * self.choice.history):
            if asked == self.choice.history:
                break
            asked += self._change(change, scope, report, own, history)
        own.history = history.reasons

    def _change(self, change: Change, scope: Scope, report: Report, own: LanguageReport, history: History) -> bool:
        language = scope.language
        tree = self.repository.tree(change.parent)
        found, _ = scopes(tree, with_tests=self.choice.with_tests)
        files = list(texts(self.repository, found[language.name]))
        grep = grep_for(change, language, files)
        finding = Finding(
            "changed_functions", change.commit, grep.word, "change", 1, change.answer, grep.answer, (), "history"
        )
        if finding.grep_f1 > HARD:
            history.reasons["one grep answers it"] += 1
            return False
        lines = sum(text.count(b"\n") for _, text in files)
        paths = [path for path, _ in files]
        project_id = self._project(language.name, lines, tree, paths)
        size = LanguageReport(language.name, files=len(files), lines=lines)
        derived = {
            **self._derived("changed_functions", language.name, "history", finding.grep_f1, size),
            "greps": 1, "hits": grep.hits, "depth": 1, "items": len(change.answer), "files": change.files,
        }  # fmt: skip
        truth = {
            "measure": "f2", "items": list(change.answer), "names": change.names, "edges": [],
            "grep": list(grep.answer),
        }  # fmt: skip
        question = questions.asked_change(change, language, with_tests=self.choice.with_tests)
        characters = sum(len(text.decode("utf-8", "replace")) for _, text in files)
        self._write(report, project_id, AGREEMENT, question, paths, characters, truth, derived, language.name)
        return True

    def _derived(self, kind: str, language: str, tier: str, grep_f1: float, own: LanguageReport) -> dict[str, Any]:
        return {
            "kind": kind,
            "family": KINDS[kind].family,
            "tier": tier,
            "checked": is_checked(kind, language, tier),
            "control_group": KINDS[kind].control,
            "grep_f1": grep_f1,
            "repository_files": own.files,
            "repository_lines": own.lines,
        }

    def _project(self, language: str, lines: int, tree: Tree, files: Sequence[str]) -> str:
        """Write a tree as a project and return its id."""
        prefix = f"{language}_{self.domain}_{scenarios.complexity(lines)}"
        self.numbers[language] += 1
        project_id = f"{prefix}_{self.numbers[language]:03d}"
        facts = {
            "specification": {
                "unique_id": project_id, "name": self.repository.name, "description": "", "domain": self.domain,
                "complexity": scenarios.complexity(lines), "language": language,
            },
            "commit": tree.commit,
            "files": [{"path": f"{self.root}/{path}", "type": "source"} for path in files],
            "generated_stats": {"files_count": len(files), "lines_count": lines},
        }  # fmt: skip
        self.folder.add_project(project_id, self.root, self.repository, tree, facts)
        return project_id

    def _write(
        self, report: Report, project_id: str, category: str, question: questions.Question, files: Sequence[str],
        characters: int, truth: dict[str, Any], derived: dict[str, Any], language: str,
    ) -> None:  # fmt: skip
        hard = questions.difficulty(derived["grep_f1"])
        self.numbers[f"{project_id} {category} {hard}"] += 1
        number = self.numbers[f"{project_id} {category} {hard}"]
        scenario = scenarios.scenario(
            f"{project_id}_{category}_{hard}_{number:02d}", category, hard, question,
            language=language, project_id=project_id, repository=self.repository.name,
            context_files=[f"{self.root}/{path}" for path in files], context_length=characters, truth=truth,
            derived=derived, commit=report.commit,
        )  # fmt: skip
        self.folder.add_scenario(scenario)
        report.asked.append(Asked(scenario, derived["kind"], language, tuple(truth["items"])))


def _names_of(answer: Iterable[str], names: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names defined in each file of an answer."""
    return {path: sorted(names[path]) for path in sorted({item.partition(": ")[0] for item in answer}) if path in names}


def _listings(index: Index) -> list[list[str]]:
    """Return answers that list everything: items, files or top levels, each forwards and backwards."""
    items = [f"{index.files[one.file]}: {one.qualified}" for one in index.symbols]
    files = list(index.files)
    tops = [f"{path}: <top level>" for path in files]
    return [listing[::step] for listing in (items, files, tops) for step in (1, -1)]
