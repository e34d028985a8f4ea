"""Small repositories whose keys were wrong: each gives the right key or none."""

# ruff: noqa: E501 - a file of code is one line here.

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from locobench.derive.code.build import build
from locobench.derive.code.scope import scopes, texts
from locobench.derive.code.tree import Repository
from locobench.derive.finding import Finding
from locobench.derive.structure import Structure
from tests.derive.repositories import commit


def findings(folder: Path, language: str, files: dict[str, str], name: str) -> list[Finding]:
    """Return all findings about a name."""
    commit(folder, files)
    repository = Repository(folder)
    scope = scopes(repository.tree(repository.commit()))[0][language]
    index = build(scope.language, texts(repository, scope))
    return [one for one in Structure(index).findings() if name in re.split(r"\W+", one.target)]


class Case(NamedTuple):
    """A repository, the name that questions are about, and what a right answer must or must not hold."""

    language: str
    name: str
    files: dict[str, str]
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("users_in_steps", "all_users", "direct_users", "class_users", "constant_users")


def chain(suffix: str, use: str, head: str = "") -> dict[str, str]:
    """Return three files whose functions use `reckon`, each through its own import."""
    return {f"src/use{n}.{suffix}": use.replace("N", str(n)) for n in (1, 2, 3)} | ({} if not head else {"head": head})


TS = "import { reckon } from './lib'\nexport function useN() { return reckon() }\n"
TS_DEFAULT = "import reckon from './lib'\nexport function useN() { return reckon() }\n"
PY = "from app.lib import reckon\n\n\ndef useN():\n    return reckon()\n"
GO = 'package useN\n\nimport "m/lib"\n\nfunc UseN() int { return lib.Reckon() }\n'
JAVA = "package p;\nimport q.Lib;\nclass UseN { int useN() { return Lib.LIMIT; } }\n"
PHP = "<?php\nnamespace A;\nuse function L\\reckon;\nfunction useN() { return reckon(); }\n"


def go(extra: dict[str, str]) -> dict[str, str]:
    files = {f"use{n}/use{n}.go": GO.replace("N", str(n)) for n in (1, 2, 3)}
    return {"go.mod": "module m\n", "lib/lib.go": "package lib\n\nfunc Reckon() int { return 1 }\n"} | files | extra


def python(extra: dict[str, str]) -> dict[str, str]:
    files = {f"src/app/use{n}.py": PY.replace("N", str(n)) for n in (1, 2, 3)}
    return {"src/app/__init__.py": "", "src/app/lib.py": "def reckon():\n    return 1\n"} | files | extra


def types(suffix: str, base: str, one: str, extra: dict[str, str]) -> dict[str, str]:
    return {
        f"src/base.{suffix}": base,
        **{f"src/{name}.{suffix}": one.replace("NAME", name.capitalize()) for name in ("one", "two", "three")},
    } | extra


TS_BASE = "export class Base {\n  run() { return 1 }\n}\n"
TS_SUB = "import { Base } from './base'\nexport class NAME extends Base {\n  run() { return 2 }\n}\n"
PY_BASE = "class Repo:\n    def load(self):\n        return 1\n"
PY_SUB = "from base import Repo\n\n\nclass NAME(Repo):\n    def load(self):\n        return 2\n"
JAVA_BASE = "package p;\npublic class Outer {\n  public static class Base { public int load() { return 1; } }\n}\n"
JAVA_SUB = "package p;\nimport p.Outer.Base;\nclass NAME extends Base { @Override public int load() { return 2; } }\n"
PHP_BASE = "<?php\nnamespace A;\nabstract class Base { public function load() { return 1; } }\n"
PHP_SUB = "<?php\nnamespace A;\nclass NAME extends Base { public function load() { return 2; } }\n"
CS_BASE = "namespace N { public class Base<T> { public virtual int Load() => 1; } }\n"
CS_SUB = "namespace N { class NAME : Base<int> { public override int Load() => 2; } }\n"

CASES = {
    # Default imports and exports.
    "ts: a default import under another name": Case("typescript", "reckon", chain("ts", TS_DEFAULT) | {
        "src/lib.ts": "export const reckon = () => 1\nexport default reckon\n",
        "src/other.ts": "import t from './lib'\nexport function other() { return t() }\n"}, ("src/other.ts: other",)),
    "ts: a default function under another name": Case("typescript", "reckon", chain("ts", TS_DEFAULT) | {
        "src/lib.ts": "export default function reckon() { return 1 }\n",
        "src/other.ts": "import t from './lib'\nexport function other() { return t() }\n"}, ("src/other.ts: other",)),
    "ts: a default handed on under another name": Case("typescript", "reckon", chain("ts", TS_DEFAULT) | {
        "src/lib.ts": "export default function reckon() { return 1 }\n", "src/face.ts": "export { default as t } from './lib'\n",
        "src/other.ts": "import { t } from './face'\nexport function other() { return t() }\n"}, ("src/other.ts: other",)),
    "ts: a default loaded later": Case("typescript", "reckon", chain("ts", TS_DEFAULT) | {
        "src/lib.ts": "export default function reckon() { return 1 }\n",
        "src/other.ts": "export const other = async () => (await import('./lib')).default()\n"}, ("src/other.ts: other",)),
    "ts: required under another name": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/other.ts": "const { reckon: t } = require('./lib')\nexport function other() { return t() }\n"}, ("src/other.ts: other",)),
    "ts: loaded later under another name": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/other.ts": "export const other = () => import('./lib').then(({ reckon: t }) => t())\n"}, ("src/other.ts: other",)),
    "ts: exported under another name": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\nexport { reckon as t }\n",
        "src/other.ts": "import { t } from './lib'\nexport function other() { return t() }\n"}, ("src/other.ts: other",)),
    "ts: a default import of another module has the name": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n", "src/slice.ts": "const slice = { reducer: 1 }\nexport default slice.reducer\n",
        "src/other.ts": "import reckon from './slice'\nexport function other() { return reckon() }\n"}, never=("src/other.ts: other",)),
    # Packages from outside.
    "python: an outside package of a file's name": Case("python", "reckon", python({
        "src/app/cli/redis.py": "def other():\n    return 1\n", "src/app/lib.py": "", "src/app/cli/lib.py": "def reckon():\n    return 1\n",
        **{f"src/app/use{n}.py": PY.replace("N", str(n)).replace("app.lib", "app.cli.lib") for n in (1, 2, 3)},
        "src/app/out.py": "import lib\n\n\ndef out():\n    return lib.reckon()\n"}), never=("src/app/out.py: out",)),
    "go: an outside package of a package's name": Case("go", "Reckon", go({
        "out/out.go": 'package out\n\nimport "github.com/pkg/lib"\n\nfunc Out() int { return lib.Reckon() }\n'}), never=("out/out.go: Out",)),
    "go: a variable of a package's name": Case("go", "Reckon", go({
        "out/out.go": 'package out\n\nimport "github.com/acme/api"\n\nfunc Out() int { lib := api.New(); return lib.Reckon() }\n'}), never=("out/out.go: Out",)),
    "go: a variable hides the package": Case("go", "Reckon", go({
        "out/out.go": 'package out\n\nimport ("github.com/acme/api"; "m/lib")\n\nvar _ = lib.Other\n\nfunc Out() int { lib := api.New(); return lib.Reckon() }\n'}), never=("out/out.go: Out",)),
    "java: another package's class of the same name": Case("java", "LIMIT", {
        "q/Lib.java": "package q;\npublic class Lib { public static final int LIMIT = 1; }\n",
        **{f"p/Use{n}.java": JAVA.replace("N", str(n)).replace("use1", "use1") for n in (1, 2, 3)},
        "p/Out.java": "package p;\nimport com.acme.q.Lib;\nclass Out { int out() { return Lib.LIMIT; } }\n"}, never=("p/Out.java: Out.out",)),
    "php: another namespace's function of the same name": Case("php", "reckon", {
        "src/lib.php": "<?php\nnamespace L;\nfunction reckon() { return 1; }\n",
        **{f"src/use{n}.php": PHP.replace("N", str(n)) for n in (1, 2, 3)},
        "src/out.php": "<?php\nnamespace A;\nuse function Acme\\L\\reckon;\nfunction out() { return reckon(); }\n"}, never=("src/out.php: out",)),
    "ts: an outside package that ends in a file's name": Case("typescript", "reckon", chain("ts", TS) | {
        "package.json": '{"dependencies": {"acme": "1"}}', "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/out.ts": "import { reckon } from 'acme/lib'\nexport function out() { return reckon() }\n"}, never=("src/out.ts: out",)),
    "csharp: another namespace's class of the same name": Case("csharp", "Reckon", {
        "Lib.cs": "namespace L;\npublic class Reckon { }\n",
        **{f"Use{n}.cs": f"using L;\nnamespace A;\nclass Use{n} {{ Reckon one; }}\n" for n in (1, 2, 3)},
        "Out.cs": "using Acme;\nnamespace B;\nclass Out { Reckon one; }\n"}, never=("Out.cs: Out",)),
    "c: a function of another library beside a static one": Case("c", "reckon_one", {
        "lib.c": "static int reckon_one(void) { return 1; }\nint a1(void) { return reckon_one(); }\n",
        **{f"use{n}.c": f"#include <other.h>\nint use{n}(void) {{ return reckon_one(); }}\n" for n in (1, 2, 3)}}, never=("use1.c: use1",)),
    # Files that are left out.
    "go: a build tag": Case("go", "Reckon", go({
        "out/out.go": "//go:build linux\n\n" + GO.replace("N", "4")}), ("out/out.go: Use4",)),
    "go: a build tag after a long licence": Case("go", "Reckon", go({
        "out/out.go": "// Licence.\n" * 300 + "\n//go:build linux\n\n" + GO.replace("N", "4")}), ("out/out.go: Use4",)),
    "go: a system in the file's name": Case("go", "Reckon", go({"out/out_windows.go": GO.replace("N", "4")}), ("out/out_windows.go: Use4",)),
    "go: goyacc's notice": Case("go", "Reckon", go({
        "out/out.go": "// Code generated by goyacc -l -o promql/parser/generated_parser.y.go promql/parser/generated_parser.y. DO NOT EDIT.\n" + GO.replace("N", "4")}), ("out/out.go: Use4",)),
    "go: prose that speaks of generated files": Case("go", "Reckon", go({
        "out/out.go": "// Package out writes auto-generated files.\n" + GO.replace("N", "4")}), ("out/out.go: Use4",)),
    "python: a vendored file": Case("python", "reckon", python({"src/app/vendor/four.py": PY.replace("N", "4")}), ("src/app/vendor/four.py: use4",)),
    "python: a file that does not parse": Case("python", "reckon", python({"src/app/four.py": PY.replace("N", "4") + "def f(:\n"}), ("src/app/four.py: use4",)),
    "ts: a file that is too large": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n", "src/four.ts": TS.replace("N", "4") + "// line\n" * 130_000}, ("src/four.ts: use4",)),
    "java: a generated file": Case("java", "LIMIT", {
        "q/Lib.java": "package q;\npublic class Lib { public static final int LIMIT = 1; }\n",
        **{f"p/Use{n}.java": JAVA.replace("N", str(n)) for n in (1, 2, 3)},
        "p/Use4.java": "// This file was automatically generated.\n" + JAVA.replace("N", "4")}, ("p/Use4.java: Use4.use4",)),
    # Supertypes that do not resolve.
    "ts: a supertype behind its module": Case("typescript", "Base", types("ts", TS_BASE, TS_SUB, {
        "src/four.ts": "import * as lib from './base'\nexport class Four extends lib.Base {\n  run() { return 2 }\n}\n"}), ("src/four.ts: Four",), kinds=("subtypes",)),
    "ts: an interface behind its module": Case("typescript", "Shape", types("ts", "export interface Shape { area(): number }\n", "import { Shape } from './base'\nexport class NAME implements Shape { area() { return 1 } }\n", {
        "src/four.ts": "import * as lib from './base'\nexport class Four implements lib.Shape { area() { return 1 } }\n"}), ("src/four.ts: Four",), kinds=("subtypes",)),
    "ts: a class expression": Case("typescript", "Base", types("ts", TS_BASE, TS_SUB, {
        "src/four.ts": "import { Base } from './base'\nexport const make = () => class extends Base {\n  run() { return 2 }\n}\n"}), ("nothing that has a name",), kinds=("subtypes",)),
    "ts: a supertype under another name": Case("typescript", "Base", types("ts", TS_BASE, TS_SUB, {
        "src/four.ts": "import { Base } from './base'\nconst Parent = Base\nexport class Four extends Parent {\n  run() { return 2 }\n}\n"}), ("src/four.ts: Four",), kinds=("subtypes",)),
    "ts: a default class under another name": Case("typescript", "Base", types("ts", TS_BASE.replace("export", "export default"), TS_SUB.replace("{ Base }", "Base"), {
        "src/four.ts": "import Parent from './base'\nexport class Four extends Parent {\n  run() { return 2 }\n}\n"}), ("src/four.ts: Four",), kinds=("subtypes",)),
    "python: a subscripted supertype behind its module": Case("python", "Repo", types("py", PY_BASE, PY_SUB, {
        "src/four.py": "import base\n\n\nclass Four(base.Repo[int]):\n    def load(self):\n        return 2\n"}), ("src/four.py: Four",), kinds=("subtypes",)),
    "python: a supertype under another name": Case("python", "Repo", types("py", PY_BASE, PY_SUB, {
        "src/four.py": "from base import Repo\n\nParent = Repo\n\n\nclass Four(Parent):\n    def load(self):\n        return 2\n"}), ("src/four.py: Four",), kinds=("subtypes",)),
    "python: a class in a function": Case("python", "Repo", types("py", PY_BASE, PY_SUB, {
        "src/four.py": "from base import Repo\n\n\ndef make():\n    class Four(Repo):\n        def load(self):\n            return 2\n    return Four\n"}), ("nothing that has a name",), kinds=("subtypes",)),
    "java: a nested supertype": Case("java", "Base", types("java", JAVA_BASE, JAVA_SUB, {
        "src/Four.java": "package p;\nclass Four extends Outer.Base { }\n"}), ("src/Four.java: Four",), kinds=("subtypes",)),
    "java: a class without a name": Case("java", "Base", types("java", JAVA_BASE, JAVA_SUB, {
        "src/Four.java": "package p;\nimport p.Outer.Base;\nclass Four { Object one = new Base() { public int load() { return 7; } }; }\n"}), ("nothing that has a name",), kinds=("subtypes",)),
    "php: small letters": Case("php", "Base", types("php", PHP_BASE, PHP_SUB, {
        "src/four.php": "<?php\nnamespace B;\nuse A\\Base;\nclass Four extends base { }\n"}), ("src/four.php: Four",), kinds=("subtypes",)),
    "php: a class without a name": Case("php", "Base", types("php", PHP_BASE, PHP_SUB, {
        "src/four.php": "<?php\nnamespace A;\n$one = new class extends Base { public function load() { return 8; } };\n"}), ("nothing that has a name",), kinds=("subtypes",)),
    "php: relative to the namespace": Case("php", "Base", types("php", PHP_BASE, PHP_SUB, {
        "src/four.php": "<?php\nnamespace A;\nclass Four extends namespace\\Base { }\n"}), ("src/four.php: Four",), kinds=("subtypes",)),
    "csharp: behind its namespace": Case("csharp", "Base", types("cs", CS_BASE, CS_SUB, {
        "src/four.cs": "namespace M { class Four : N.Base<int> { public override int Load() => 2; } }\n"}), ("src/four.cs: Four",), kinds=("subtypes",)),
    "csharp: under another name": Case("csharp", "Base", types("cs", CS_BASE, CS_SUB, {
        "src/four.cs": "namespace M { using B = N.Base<int>; class Four : B { } }\n"}), ("src/four.cs: Four",), kinds=("subtypes",)),
    # Items as an engineer names them.
    "ts: a function handed to a function": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/four.ts": "import { reckon } from './lib'\nexport const Four = memo(forward(() => reckon()))\n"}, ("src/four.ts: Four",), ("src/four.ts: <top level>",)),
    "ts: a generator that is assigned": Case("typescript", "reckon", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/four.ts": "import { reckon } from './lib'\nexport const four = function* () { yield reckon() }\n"}, ("src/four.ts: four",), ("src/four.ts: <top level>",)),
    "go: types that are declared together": Case("go", "Reckon", go({
        "out/out.go": "package out\n\nimport \"m/lib\"\n\ntype (\n\tFirst struct{ one [3]int }\n\tSecond struct{ two func() }\n)\n\nfunc (s Second) Go() int { return lib.Reckon() }\n"}), ("out/out.go: Second.Go",)),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_a_key_is_right_or_there_is_none(what: str, tmp_path: Path) -> None:
    case = CASES[what]
    for one in findings(tmp_path / "repository", case.language, case.files, case.name):
        if one.kind in case.kinds:
            assert set(case.must) <= set(one.answer), one
            assert not set(case.never) & set(one.answer), one


# What can be resolved is asked: the rule does not get its keys right by asking nothing.
ASKED = {
    "ts: a default import": Case("typescript", "reckon", chain("ts", TS_DEFAULT) | {"src/lib.ts": "export default function reckon() { return 1 }\n"}),
    "ts: a path of tsconfig": Case("typescript", "reckon", chain("ts", TS.replace("./lib", "@app/lib")) | {
        "tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["./src/*"]}}, /* */}', "src/lib.ts": "export function reckon() { return 1 }\n"}),
    "ts: a package of the workspace": Case("typescript", "reckon", chain("ts", TS.replace("./lib", "@own/lib")) | {
        "packages/lib/package.json": '{"name": "@own/lib"}', "packages/lib/src/index.ts": "export function reckon() { return 1 }\n"}),
    "python: a module under another name": Case("python", "reckon", python({
        f"src/app/use{n}.py": f"import app.lib as other\n\n\ndef use{n}():\n    return other.reckon()\n" for n in (1, 2, 3)})),
    "python: a file of an outside package's name": Case("python", "reckon", python({"src/app/cli/redis.py": "x = 1\n", "src/app/out.py": "import redis\n"})),
    "go: a package under another name": Case("go", "Reckon", go({
        f"use{n}/use{n}.go": GO.replace("N", str(n)).replace('"m/lib"', 'other "m/lib"').replace("lib.R", "other.R") for n in (1, 2, 3)})),
    "php: a function of another namespace": Case("php", "reckon", {
        "src/lib.php": "<?php\nnamespace L;\nfunction reckon() { return 1; }\n", **{f"src/use{n}.php": PHP.replace("N", str(n)) for n in (1, 2, 3)}}),
    "java: a constant of another package": Case("java", "LIMIT", {
        "q/Lib.java": "package q;\npublic class Lib { public static final int LIMIT = 1; }\n", **{f"p/Use{n}.java": JAVA.replace("N", str(n)) for n in (1, 2, 3)}}),
    "java: a nested supertype": Case("java", "Base", types("java", JAVA_BASE, JAVA_SUB, {"src/Four.java": "package p;\nclass Four extends Outer.Base { }\n"}), kinds=("subtypes",)),
    "python: a supertype behind its module": Case("python", "Repo", types("py", PY_BASE, PY_SUB, {
        "src/four.py": "import base as b\n\n\nclass Four(b.Repo[int]):\n    def load(self):\n        return 2\n"}), kinds=("subtypes",)),
    "ts: a class": Case("typescript", "Base", types("ts", TS_BASE, TS_SUB, {}), kinds=("subtypes",)),
    "php: a class": Case("php", "Base", types("php", PHP_BASE, PHP_SUB, {}), kinds=("subtypes",)),
    "csharp: a class": Case("csharp", "Base", types("cs", CS_BASE, CS_SUB, {}), kinds=("subtypes",)),
    "csharp: a class of another namespace": Case("csharp", "Reckon", {
        "Lib.cs": "namespace L;\npublic class Reckon { }\n", **{f"Use{n}.cs": f"using L;\nnamespace A;\nclass Use{n} {{ Reckon one; }}\n" for n in (1, 2, 3)}}),
    "c: a function": Case("c", "reckon_one", {
        "lib.c": "int reckon_one(void) { return 1; }\n", **{f"use{n}.c": f"int use{n}(void) {{ return reckon_one(); }}\n" for n in (1, 2, 3)}}),
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_what_can_be_resolved_is_found(what: str, tmp_path: Path) -> None:
    case = ASKED[what]
    assert [
        one for one in findings(tmp_path / "repository", case.language, case.files, case.name) if one.kind in case.kinds
    ]


IMPORTERS = {
    "python: a module called index": (
        "python",
        "src/app/lib.py",
        python({"src/app/index.py": "from app.lib import reckon\n", "src/app/out.py": "from app.index import reckon\n"}),
        "src/app/out.py",
    ),
    "python: an outside module": ("python", "src/app/cli/redis.py", python({
        "src/app/cli/redis.py": "", **{f"src/app/r{n}.py": "from app.cli import redis\n" for n in (1, 2, 3)}, "src/app/out.py": "import redis\n"}), "src/app/out.py"),
    "ts: a prefix of a build tool": ("typescript", "src/lib.ts", chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n", "src/out.ts": "import { reckon } from '@/lib'\n"}, "src/out.ts"),
    "ts: baseUrl and paths": ("typescript", "src/util/core.ts", {
        "tsconfig.json": '{"compilerOptions": {"baseUrl": "src", "paths": {"@app/*": ["*"]}}}', "src/util/core.ts": "export const core = 1\n",
        **{f"src/use{n}.ts": "import { core } from './util/core'\n" for n in (1, 2, 3)}, "src/four.ts": "import { core } from 'util/core'\n"}, "src/four.ts"),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPORTERS)
def test_importers_are_those_whose_paths_lead_to_the_file(what: str, tmp_path: Path) -> None:
    language, target, files, other = IMPORTERS[what]
    stem = target.rpartition("/")[2].partition(".")[0]
    for one in findings(tmp_path / "repository", language, files, stem):
        if one.kind == "importers" and one.target == target:
            assert (other in one.answer) == (what != "python: an outside module")


@pytest.mark.parametrize("top", ["export const page = wrap(use1)", "export default wrap(use1)", "use1()"])
def test_no_steps_are_asked_through_a_value_made_at_a_top_level(top: str, tmp_path: Path) -> None:
    """Whether a user of the value counts is a matter of taste; a plain call leads nowhere."""
    files = chain("ts", TS) | {
        "src/lib.ts": "export function reckon() { return 1 }\n",
        "src/four.ts": f"import {{ use1 }} from './use1'\n{top}\n",
        "src/five.ts": "import { use2 } from './use2'\nexport function five() { return use2() }\n",
    }
    kinds = {one.kind for one in findings(tmp_path / "repository", "typescript", files, "reckon")}
    assert "direct_users" in kinds
    assert ("all_users" in kinds) == (top == "use1()")


# A constant that only its own file uses, and whose functions others use in further steps.
CONSTANTS = {
    "python": ("py", "reckon_name{} = {}\n\n\ndef reckon():\n    return reckon_name\n",
        "from lib import reckon\n\n\ndef useN():\n    return reckon()\n", {}),
    "typescript": ("ts", "const reckon_name{} = {}\nexport function reckon() {{ return reckon_name }}\n", TS, {}),
    "go": ("go", "package src\n\nconst reckon_name {} = {}\n\nfunc Reckon() string {{ return reckon_name }}\n",
        "package src\n\nfunc UseN() string { return Reckon() }\n", {"go.mod": "module m\n"}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "of_type", "value", "asked"),
    [
        ("python", "", '"reckon"', False), ("python", ": str", "r'a\\.b'", False), ("python", "", '["reckon"]', True),
        ("python", "", 'f("reckon")', True), ("typescript", ": string", "'reckon' as const", False),
        ("typescript", "", "new Map([['a', 'b']])", True), ("go", "", '"reckon"', False),
        ("go", "Label", "`reckon`", False), ("go", "", 'join("a", "b")', True),
    ],
)  # fmt: skip
def test_a_label_that_one_file_uses_is_not_asked_about(
    tmp_path: Path, language: str, of_type: str, value: str, asked: bool
) -> None:
    suffix, head, use, more = CONSTANTS[language]
    files = {f"src/use{n}.{suffix}": use.replace("N", str(n)) for n in (1, 2, 3)}
    files[f"src/lib.{suffix}"] = head.format(of_type, value)
    found = findings(tmp_path / "repository", language, files | more, "reckon_name")
    assert bool(found) == asked
