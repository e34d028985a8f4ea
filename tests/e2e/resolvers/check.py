"""How well do the answers agree with independent resolvers? Precision and recall of items, by kind and language.

`python -m tests.e2e.resolvers.check REPOS [NAME...]` prints a table and each difference: REPOS holds checkouts.
"""

from __future__ import annotations

import re
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.code.rows import FUNCTIONS, Role
from locobench.derive.code.scope import scopes, texts
from locobench.derive.code.tree import Repository
from locobench.derive.kinds import KINDS
from locobench.derive.questions import choose
from locobench.derive.resolve.strict import Item, Strict
from locobench.derive.run import _listings
from locobench.derive.structure import Finding, Structure
from tests.e2e.resolvers.lsp import LanguageServer

HERE = Path(__file__).parent
MODULES = HERE.parents[2] / ".cache" / "e2e" / "resolvers" / "node_modules"
"""Where `npm install` put pyright, typescript and intelephense."""

Place = tuple[int, int]
"""File of the index and byte offset."""
Uses = Callable[[Place], set[Place]]


class Resolved:
    """Who uses what, by a resolver: what it says of names, mapped to the functions around them."""

    def __init__(self, index: Index, uses: Uses) -> None:
        self.index, self.uses = index, uses
        self.rows = {(index.file[row], index.start[row]): row for row in range(len(index.name))}

    def mentions(self, symbol: int) -> list[int]:
        """Return the rows of the index that the resolver takes for the symbol."""
        one = self.index.symbols[symbol]
        found = set()
        for number in one.definitions:
            found |= self.uses((one.file, self.index.definitions[number].name_start))
        return sorted(self.rows[place] for place in found if place in self.rows)

    def users(self, symbol: int) -> set[Item]:
        """Return the items that use a symbol."""
        index, items = self.index, set()
        for row in self.mentions(symbol):
            if index.role[row] in (Role.IMPORT, Role.FOREIGN, Role.ALIASED, Role.DEFINITION, Role.DECLARATION):
                continue
            item = index.item_of(index.scope[row])
            if item is not None and not index.is_inside(item, symbol):
                items.add(Item(index.file[row], item))
        return items

    def closure(self, symbol: int, depth: int) -> set[Item]:
        """Return the users in so many steps, 0 for any number."""
        found: set[Item] = set()
        front, step = [symbol], 0
        while front and (depth == 0 or step < depth):
            step += 1
            reached: set[Item] = set()
            for one in front:
                owner = self.index.symbols[one].owner
                reached |= self.users(owner if self.index.symbols[one].kind == "constructor" else one)
            fresh = {item for item in reached - found if not self.index.is_inside(item.symbol, symbol)}
            found |= fresh
            kinds = FUNCTIONS | {"mixed"}
            front = [
                item.symbol for item in fresh if item.symbol >= 0 and self.index.symbols[item.symbol].kind in kinds
            ]
        return found

    def subtypes(self, symbol: int) -> set[int]:
        """Return all types whose headers name the type, or one that does."""
        found: set[int] = set()
        pending = [symbol]
        while pending:
            for row in self.mentions(pending.pop()):
                scope = self.index.scope[row]
                if scope < 0 or self.index.role[row] in (Role.IMPORT, Role.FOREIGN, Role.DEFINITION):
                    continue
                one = self.index.definitions[scope]
                if one.kind not in ("class", "container") or not self._in_header(one.name_start, row):
                    continue
                if one.symbol >= 0 and one.symbol not in found:
                    found.add(one.symbol)
                    pending.append(one.symbol)
        return found

    def _in_header(self, name_start: int, row: int) -> bool:
        text = self.index.texts[self.index.file[row]][name_start : self.index.start[row]]
        if self.index.language.name == "php" and re.search(rb"\buse\s+[\w\\, ]*$", text):
            return True
        # A type's argument is no supertype.
        return b"{" not in text and b":\n" not in text and text.count(b"<") <= text.count(b">")


@dataclass
class Score:
    """How the answers of a kind compare."""

    questions: int = 0
    items: int = 0
    found: int = 0
    common: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.common / self.items if self.items else 1.0

    @property
    def recall(self) -> float:
        return self.common / self.found if self.found else 1.0


def findings_of(repository: Repository, language: str, most: int) -> tuple[Index, list[Finding]]:
    """Return the index and every finding that fits, asked or not."""
    tree = repository.tree(repository.commit())
    scope = scopes(tree)[0][language]
    index = build(scope.language, texts(repository, scope))
    structure = Structure(index, Strict(index))
    chosen, _ = choose(structure.findings(), _listings(index), most)
    return index, chosen


def compare(
    index: Index, findings: list[Finding], resolved: Resolved, imports: set[tuple[str, str]]
) -> dict[str, Score]:
    """Compare findings with what a resolver says.

    Args:
        imports: (importer, imported) of files.
    """
    by_name = {f"{index.files[one.file]}: {one.qualified}": number for number, one in enumerate(index.symbols)}
    structure = Structure(index, Strict(index))
    scores: dict[str, Score] = defaultdict(Score)
    for one in findings:
        if one.kind == "importers":
            truth = _importers(one.target, imports)
        elif one.kind in ("subtypes", "overriders", "non_overriders"):
            path = one.target.partition(": ")[0]
            kind = by_name[f"{path}: {one.extra['type']}" if one.extra else one.target]
            types = resolved.subtypes(kind)
            member = one.extra.get("member")
            having = {
                n for n, s in enumerate(index.symbols) if s.kind == "method" and s.name == member and s.owner in types
            }
            if one.kind == "overriders":
                types = having
            elif one.kind == "non_overriders":
                types = types - {index.symbols[n].owner for n in having}
            truth = {structure.say(Item(index.symbols[n].file, n)) for n in types}
        else:
            truth = {structure.say(item) for item in resolved.closure(by_name[one.target], one.depth)}
        score, answer = scores[one.kind], set(one.answer)
        score.questions += 1
        score.items += len(answer)
        score.found += len(truth)
        score.common += len(answer & truth)
        if answer != truth:
            more = "; ".join(
                [*(f"+{item}" for item in sorted(answer - truth)), *(f"-{item}" for item in sorted(truth - answer))]
            )
            score.differences.append(f"{one.kind} {one.target} (depth {one.depth}): {more}")
    return scores


def _importers(target: str, imports: set[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    pending = [target]
    while pending:
        one = pending.pop()
        for importer, imported in imports:
            if imported == one and importer not in found and importer != target:
                found.add(importer)
                pending.append(importer)
    return found


def resolver(language: str, root: Path, index: Index) -> AbstractContextManager[Uses]:
    """Return what tells the uses of a place, by the language's resolver."""
    listed = "\n".join(index.files)
    if language == "go":
        done = subprocess.run(["go", "run", HERE / "uses.go", root], capture_output=True, text=True, check=True)
        return nullcontext(_table(index, done.stdout, in_bytes=True))
    if language in ("typescript", "javascript"):
        command = ["node", "--max-old-space-size=4000", str(HERE / "uses.js"), str(MODULES), str(root)]
        done = subprocess.run(command, input=listed, capture_output=True, text=True, check=True)
        return nullcontext(_table(index, done.stdout, in_bytes=False))
    if language == "java":
        done = subprocess.run(
            ["java", HERE / "Uses.java", root], input=listed, capture_output=True, text=True, check=True
        )
        return nullcontext(_table(index, done.stdout, in_bytes=False))
    return _Served(language, root, index)


def _table(index: Index, text: str, *, in_bytes: bool) -> Uses:
    numbers = {path: number for number, path in enumerate(index.files)}
    decoded: dict[int, str] = {}

    def place(told: str) -> Place | None:
        path, _, offset = told.rpartition(":")
        if path not in numbers:
            return None
        number, at = numbers[path], int(offset)
        if not in_bytes and not index.texts[number].isascii():
            if number not in decoded:
                decoded[number] = index.texts[number].decode("utf-8", "replace")
            units = decoded[number].encode("utf-16-le")[: 2 * at]
            at = len(units.decode("utf-16-le", "ignore").encode())
        return number, at

    table: dict[Place, set[Place]] = defaultdict(set)
    for line in text.splitlines():
        if "\t" in line:
            use, meant = map(place, line.split("\t"))
            if use and meant:
                table[meant].add(use)
    return lambda meant: table.get(meant, set())


class _Served:
    """A language server, asked for one symbol after the other."""

    def __init__(self, language: str, root: Path, index: Index) -> None:
        self.language, self.root, self.index = language, root, index

    def __enter__(self) -> Uses:
        modules, root = MODULES, self.root.resolve()
        if self.language == "python":
            # Code for another system is code, too.
            (root / "pyrightconfig.json").write_text('{"pythonPlatform": "All"}', encoding="utf-8")
            self.server = LanguageServer(
                ["node", str(modules / "pyright/langserver.index.js"), "--stdio"], root, "python"
            )
        elif self.language == "php":
            self.server = LanguageServer(
                ["node", str(modules / "intelephense/lib/intelephense.js"), "--stdio"], root, "php",
                {"storagePath": "/tmp/intelephense", "clearCache": True},
            )  # fmt: skip
            self.server.wait_until_indexed()
        else:
            self.server = LanguageServer(["clangd", "--background-index=false", "--log=error"], root, self.language)
        # A server that reads files when it is told of them has to know all of them.
        for path in self.index.files:
            self.server.open(path)
            self.server.request("textDocument/documentSymbol", {"textDocument": {"uri": (root / path).as_uri()}})
        self.starts = [[0, *(m.end() for m in re.finditer(rb"\n", text))] for text in self.index.texts]
        self.numbers = {path: number for number, path in enumerate(self.index.files)}
        self.known: dict[Place, set[Place]] = {}
        return self.uses

    def __exit__(self, *details: object) -> None:
        self.server.__exit__(*details)

    def uses(self, place: Place) -> set[Place]:
        if place not in self.known:
            file, offset = place
            line = bisect_right(self.starts[file], offset) - 1
            column = len(self.index.texts[file][self.starts[file][line] : offset].decode("utf-8", "replace"))
            told = self.server.references(self.index.files[file], line, column)
            self.known[place] = {found for one in told if (found := self._place(*one))}
        return self.known[place]

    def _place(self, path: str, line: int, column: int) -> Place | None:
        if path not in self.numbers:
            return None
        file = self.numbers[path]
        start = self.starts[file][line]
        text = self.index.texts[file][start : start + 10_000].split(b"\n")[0].decode("utf-8", "replace")
        return file, start + len(text[:column].encode())


def imports_of(language: str, root: Path, index: Index) -> set[tuple[str, str]]:
    """Return who imports whom, by the TypeScript compiler or by Python's own rules."""
    if language in ("typescript", "javascript"):
        command = ["node", str(HERE / "uses.js"), str(MODULES), str(root), "--imports"]
        done = subprocess.run(command, input="\n".join(index.files), capture_output=True, text=True, check=True)
        return {(a, b) for a, _, b in (line.partition("\t") for line in done.stdout.splitlines()) if a != b and b}
    if language == "python":
        from tests.e2e.resolvers.python_imports import imports

        return set(imports(root, index.files))
    return set()


def check(root: Path, language: str, most: int = 10_000) -> dict[str, Score]:
    """Check a repository's questions in a language, at most so many hard ones."""
    index, findings = findings_of(Repository(root), language, most)
    with resolver(language, root.resolve(), index) as uses:
        return compare(index, findings, Resolved(index, uses), imports_of(language, root.resolve(), index))


REPOSITORIES = {
    "click": "python", "express": "javascript", "hono": "typescript", "gin": "go", "commons-cli": "java",
    "Slim": "php", "hiredis": "c",
}  # fmt: skip


def lines(scores: dict[str, Score], name: str, language: str) -> Iterator[str]:
    """Yield the rows of the table."""
    for kind in KINDS:
        if kind in scores:
            score = scores[kind]
            cells = (LANGUAGES[language].title, name, kind, score.questions, score.items)
            yield f"| {' | '.join(map(str, cells))} | {score.precision:.3f} | {score.recall:.3f} |"


def main(arguments: list[str]) -> int:
    """Print the table and the differences."""
    repositories, *names = arguments
    differences = []
    for name in names or REPOSITORIES:
        scores = check(Path(repositories) / name, REPOSITORIES[name])
        for line in lines(scores, name, REPOSITORIES[name]):
            print(line, flush=True)
        differences += [f"{name}: {one}" for score in scores.values() for one in score.differences]
    print("\n".join(["", *differences]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
