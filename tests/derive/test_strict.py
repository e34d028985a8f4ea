"""The strict rule: what takes part, what does not, and who uses what, in each language."""

# ruff: noqa: E501 - a file of code is one line here.

from __future__ import annotations

import pytest

from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.code.scope import Source
from locobench.derive.resolve.strict import Strict, Unclear
from locobench.derive.structure import Structure
from tests.derive.repositories import CHAIN


def read(language: str, files: dict[str, str]) -> Index:
    return build(LANGUAGES[language], [Source(path, text.encode()) for path, text in sorted(files.items())])


def users(language: str, files: dict[str, str], name: str) -> set[str]:
    index = read(language, files)
    strict = Strict(index)
    number = next(number for number, one in enumerate(index.symbols) if one.qualified == name)
    return {Structure(index).say(item) for item in strict.users(number)}


def test_a_call_a_value_and_a_use_through_the_module_count_and_comments_and_imports_do_not() -> None:
    assert users("python", CHAIN, "parse_amount") == {"shop/basket.py: read_basket", "shop/views.py: show_total"}


def test_a_method_used_through_self_counts_for_the_method_that_uses_it() -> None:
    assert users("python", CHAIN, "Orders.place_order") == {"shop/orders.py: Orders.again"}


# A file whose one mention of `target` means something else, or may.
OTHERWISE = {
    "a second definition": "def target(): ...\n",
    "a parameter of its name": "def f(target):\n    return target\n",
    "a variable of its name": "def f():\n    target = 1\n",
    "a function in a function": "def f():\n    def target(): ...\n",
    "an unknown receiver": "def f(x):\n    return x.target()\n",
    "another name for it": "from a import target as t\ndef f():\n    return t()\n",
    "a library of that name": "from requests import target\n",
    "a name that is not imported": "def f():\n    return target()\n",
    "a broken file": "def f(:\n    target\n",
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_one_mention_that_may_mean_something_else_takes_the_symbol_out(what: str) -> None:
    with pytest.raises(Unclear):
        users("python", {"a.py": "def target(): ...\n", "b.py": OTHERWISE[what]}, "target")


def test_a_keyword_argument_and_a_string_of_the_same_name_are_no_uses() -> None:
    files = {"a.py": "def target(): ...\n", "b.py": "def f():\n    return dict(target=1), 'target'\n"}
    assert users("python", files, "target") == set()


def test_nested_functions_lambdas_and_class_bodies_count_for_what_is_around_them() -> None:
    text = (
        "from a import target\n\n\ndef outer():\n    def inner():\n        return target()\n    return inner\n\n\n"
        "class C:\n    field = target\n    hook = lambda self: target()\n\n    @target\n    def method(self): ...\n\n\n"
        "later = lambda: target()\n"
    )
    assert users("python", {"a.py": "def target(): ...\n", "b.py": text}, "target") == {
        "b.py: outer", "b.py: C", "b.py: C.method", "b.py: <top level>",
    }  # fmt: skip


LANGUAGE_SAMPLES = {
    "go": (
        {
            "go.mod": "module x\n",
            "pay/a.go": "package pay\n\nfunc Charge() int { return 1 }\n\ntype Till struct{}\n\nfunc (t *Till) Open() { Charge(); t.Fill() }\n\nfunc (t *Till) Fill() {}\n",
            "cmd/main.go": 'package main\n\nimport "x/pay"\n\nfunc main() { f := pay.Charge; f() }\n',
        },
        {"Charge": {"pay/a.go: Till.Open", "cmd/main.go: main"}, "Till.Fill": {"pay/a.go: Till.Open"}},
    ),
    "java": (
        {
            "src/p/A.java": "package p;\npublic class A {\n  static int chargeCard() { return 1; }\n  int twice() { return chargeCard(); }\n  A() { twice(); }\n}\n",
            "src/p/B.java": "package p;\nclass B extends A {\n  int third() { return A.chargeCard() + twice(); }\n}\n",
        },
        {
            "A.chargeCard": {"src/p/A.java: A.twice", "src/p/B.java: B.third"},
            "A.twice": {"src/p/A.java: A.A", "src/p/B.java: B.third"},
        },
    ),
    "typescript": (
        {
            "src/a.ts": "export const charge = (n: number) => n\nexport class Till { fillTill() {} open() { this.fillTill() } }\n",
            "src/b.ts": "import { charge } from './a'\nexport function pay() { return [1].map(charge) }\nexport { charge }\n",
        },
        {"charge": {"src/b.ts: pay"}, "Till.fillTill": {"src/a.ts: Till.open"}},
    ),
    "php": (
        {
            "src/A.php": "<?php\nnamespace P;\nclass A {\n  function fillTill() {}\n  function openTill() { $this->fillTill(); $fillTill = 1; }\n}\n",
            "src/B.php": "<?php\nnamespace P;\nuse P\\A;\nclass B extends A { function third() { return $this->fillTill() . A::class; } }\n",
        },
        {"A.fillTill": {"src/A.php: A.openTill", "src/B.php: B.third"}, },
    ),
    "c": (
        {
            "a.c": "#include <a.h>\nint charge_card(int n) { return n; }\nstatic int *twice_it(void) { return charge_card(1); }\n",
            "a.h": "#ifndef A_H\n#define A_H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nint charge_card(int);\n#ifdef __cplusplus\n}\n#endif\n#endif\n",
        },
        {"charge_card": {"a.c: twice_it"}},
    ),
    "csharp": (
        {
            "A.cs": "namespace P;\nclass A {\n  static int ChargeCard() => 1;\n  int Twice() => ChargeCard();\n}\nclass B : A {\n  int Third() => A.ChargeCard() + this.Twice();\n}\n",
        },
        {"A.ChargeCard": {"A.cs: A.Twice", "A.cs: B.Third"}, "A.Twice": {"A.cs: B.Third"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGE_SAMPLES)
def test_every_language_knows_its_functions_methods_and_receivers(language: str) -> None:
    files, expected = LANGUAGE_SAMPLES[language]
    index = read(language, files)
    assert not index.left_out
    for name, found in expected.items():
        assert users(language, files, name) == found


def test_a_rust_test_for_one_system_only_is_a_test() -> None:
    tests = "".join(f"    #[cfg(unix)]\n    mod m{n} {{\n        fn in_{n}() {{}}\n    }}\n" for n in range(30))
    index = read("rust", {"src/a.rs": f"fn real() {{}}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n"})
    assert [one.qualified for one in index.symbols] == ["real"]


def test_every_language_has_an_image_and_a_list_of_names() -> None:
    from locobench.dataset.catalog import load_languages

    assert set(LANGUAGES) <= set(load_languages())
    assert all(language.library_names for language in LANGUAGES.values() if language.structural)


@pytest.mark.parametrize("receiver", ["$parent", "$self", "$this->parent", "$A"])
def test_a_php_variable_called_like_a_class_or_a_keyword_is_an_unknown_receiver(receiver: str) -> None:
    text = f"<?php\nclass A {{ function fillTill() {{}} function open() {{ {receiver}->fillTill(); }} }}\n"
    with pytest.raises(Unclear):
        users("php", {"A.php": text}, "A.fillTill")


def test_super_is_a_plain_name_in_go() -> None:
    text = (
        "package p\n\ntype Till struct{}\n\nfunc (t *Till) Fill() {}\n\nfunc (t *Till) Open(super T) { super.Fill() }\n"
    )
    with pytest.raises(Unclear):
        users("go", {"a.go": text}, "Till.Fill")


def test_a_macro_and_a_variant_take_a_function_out() -> None:
    for text in ("#define LOG(x) charge_card(x)\n", "#ifdef WIN\nint f(void) { return charge_card(1); }\n#endif\n"):
        with pytest.raises(Unclear):
            users("c", {"a.c": "int charge_card(int n) { return n; }\n", "b.c": text}, "charge_card")
