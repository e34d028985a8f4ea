"""Derive a data folder from repositories: choose the questions, and write scenarios and projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from locobench.dataset.catalog import UNKNOWN
from locobench.derive import questions, scenarios
from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.languages import Language
from locobench.derive.code.scope import Scope, Source, scopes, texts
from locobench.derive.code.tree import Family, Repository, Tree, write_tree
from locobench.derive.finding import Finding
from locobench.derive.history import History
from locobench.derive.kinds import AGREEMENT, CHANGED_FUNCTIONS, CHECKED, CONTROL, FEWEST_FILES, HARD, STRUCTURE
from locobench.derive.report import Choice, LanguageReport, Report
from locobench.derive.structure import Structure

Watch = Callable[[Iterable[Source], int, str], Iterator[Source]]


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
    if choice.together:
        repositories = [Family(repositories)]
    reports: list[Report] = []
    taken: Counter[str] = Counter()
    with scenarios.data_folder(output_dir, [repository.name for repository in repositories]) as folder:
        for repository in repositories:
            domain = scenarios.plain_name(repository.name)
            taken[domain] += 1
            domain += f"_{taken[domain]}" if taken[domain] > 1 else ""
            reports.append(_Deriver(repository, domain, choice, folder, watch).run())
        if any(report.scenarios for report in reports):
            commits = [{"name": report.name, "commit": report.commit} for report in reports]
            scenarios.write(folder / scenarios.MARK, {"generator": "locobench-harbor", "repositories": commits})
    return reports


class _Deriver:
    """Derives the questions of one repository."""

    def __init__(self, repository: Repository, domain: str, choice: Choice, folder: Path, watch: Watch) -> None:
        self.repository, self.domain, self.choice = repository, domain, choice
        self.folder, self.watch = folder, watch
        self.tree = repository.tree(repository.commit(choice.revision))
        self.report = Report(repository.name, self.tree.commit)
        self.projects: dict[str, str] = {}
        """Commit -> its project."""
        self.numbers: Counter[str] = Counter()

    def run(self) -> Report:
        """Derive the questions."""
        report, choice = self.report, self.choice
        found, report.unknown = scopes(self.tree)
        wanted = [scope for _, scope in sorted(found.items())]
        if choice.together and (others := [one.language.title for one in wanted if not one.language.packaged]):
            report.notes.append(f"--together cannot tell packages apart in {', '.join(others)}; left out")
            wanted = [one for one in wanted if one.language.packaged]
        largest = max(wanted, key=lambda scope: sum(blob.size for blob in scope.blobs), default=None)
        for scope in wanted:
            own = LanguageReport(scope.language.name, len(scope.blobs), scope.left_out)
            report.languages.append(own)
            if not scope.language.structural:
                own.reasons["in a language with questions from the history alone"] += 1
            elif len(scope.blobs) < FEWEST_FILES:
                own.reasons["fewer than three files"] += 1
            else:
                self._structure(scope, own)
            if scope is largest and choice.history and not choice.together:
                self._history(scope.language, own)
        return report

    def _structure(self, scope: Scope, own: LanguageReport) -> None:
        language = scope.language
        label = f"Reading {self.repository.name} ({language.title})"
        files = self.watch(texts(self.repository, scope), len(scope.beside) + len(scope.blobs), label)
        index = build(language, files, together=self.choice.together)
        own.left_out += index.left_out
        own.files, own.symbols = len(index.files), len(index.symbols)
        structure = Structure(index)
        chosen, own.reasons = questions.choose(structure.findings(), _listings(index), self.choice.max_questions)
        own.reasons += structure.reasons
        if all(one.kind in CONTROL for one in chosen):
            return
        project = self._project(language, self.tree, index.files, index.texts)
        names = index.defined_names()
        for one in chosen:
            self._ask(project, questions.phrase(one, language), one, names)

    def _history(self, language: Language, own: LanguageReport) -> None:
        if self.repository.is_shallow:
            self.report.notes.append("the clone is shallow: the older history is not read")
        history = History(self.repository, language)
        own.history = history.reasons
        asked = 0
        for change in history.changes(self.tree.commit):
            tree = self.repository.tree(change.parent)
            scope = replace(scopes(tree)[0][language.name], beside=[])
            sources = [one for one in texts(self.repository, scope) if not one.left_out]
            files, contents = [one.path for one in sources], [one.text for one in sources]
            grep = history.best_grep(change, [*zip(files, contents, strict=True)])
            finding = Finding(CHANGED_FUNCTIONS, change.commit, "change", 1, change.answer, grep)
            if finding.grep_f1 > HARD:
                history.reasons["one grep answers it"] += 1
                continue
            project = self._project(language, tree, files, contents)
            self._ask(project, questions.phrase_change(change, language), finding, change.names)
            asked += 1
            if asked == self.choice.history:
                break

    def _project(self, language: Language, tree: Tree, files: list[str], contents: list[bytes]) -> dict[str, Any]:
        """Write a tree as a project, once for all languages; return what scenarios say of it and of `files` in it."""
        if tree.commit not in self.projects:
            project_id = self.projects[tree.commit] = f"{self.domain}_{len(self.projects) + 1:03d}"
            facts = {"specification": {"unique_id": project_id, "name": self.repository.name}, "commit": tree.commit}
            folder = self.folder / "generated" / project_id
            write_tree(self.repository, tree, folder / self.repository.name)
            scenarios.write(folder / "project_metadata.json", facts)
        return {
            "language": language.name,
            "project_id": self.projects[tree.commit],
            "context_files": [f"{self.repository.name}/{path}" for path in files],
            "context_length": sum(len(text.decode("utf-8", "replace")) for text in contents),
            "metadata": {"commit": tree.commit},
        }

    def _ask(
        self, project: dict[str, Any], question: tuple[str, str], finding: Finding, names: dict[str, list[str]]
    ) -> None:
        """Write a question as a scenario in the benchmark's format.

        Args:
            question: its title and its prompt.
            names: the names that each file defines.
        """
        title, prompt = question
        is_change = finding.kind == CHANGED_FUNCTIONS
        category = AGREEMENT if is_change else STRUCTURE
        group = f"{project['project_id']}_{category}"
        self.numbers[group] += 1
        scenario = {
            "id": f"{group}_{self.numbers[group]:02d}",
            "source": scenarios.SOURCE,
            "authors": [f"the authors of {self.repository.name}"],
            **project,
            "task_category": category,
            # Only runs of an agent tell how hard it is.
            "difficulty": UNKNOWN,
            "title": title,
            "description": "",
            "task_prompt": prompt,
            "ground_truth": {
                # Long enough for the smoke test to search for: an image that contains it gives the answer away.
                "summary": f"The exact answer to {title!r} has {len(finding.answer)} items; it was derived,"
                " not written.",
                "measure": "f2" if is_change else "f1",
                "items": list(finding.answer),
                "names": _names_of(finding.answer, names),
                "grep": list(finding.grep),
            },
            "derived": {
                "kind": finding.kind,
                "tier": "history" if is_change else "syntax",
                "checked": project["language"] in CHECKED[finding.kind],
                "control_group": finding.kind in CONTROL,
                "grep_f1": finding.grep_f1,
                "repository": self.repository.name,
            },
        }
        scenarios.write(self.folder / "output" / "scenarios" / f"{scenario['id']}.json", scenario)
        self.report.scenarios.append(scenario)


def _names_of(answer: Iterable[str], names: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names defined in each file of an answer."""
    return {path: sorted(names[path]) for path in sorted({item.partition(": ")[0] for item in answer}) if path in names}


def _listings(index: Index) -> list[list[str]]:
    """Return answers that list everything: items, files or top levels, each forwards and backwards."""
    items = [f"{index.files[one.file]}: {one.qualified}" for one in index.symbols]
    files = list(index.files)
    tops = [f"{path}: <top level>" for path in files]
    return [listing[::step] for listing in (items, files, tops) for step in (1, -1)]
