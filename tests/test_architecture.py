"""The packages: imports run one way and at the top, without circles; every file says its purpose; nothing unpickles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import paraloom

ROOT = Path(paraloom.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

DOMAIN = ("extract", "alignment", "mt", "pairs", "syntax", "paraphrasing", "embed", "evaluate")
_BELOW: dict[str, tuple[str, ...]] = {
    "core": (),
    "bundled": ("core",),
    "text": ("core",),
    "io": ("core", "text"),
    **{package: ("core", "bundled", "text", "io") for package in DOMAIN},
    "stages": ("core", "bundled", "text", "io", *DOMAIN),
    "pipeline": ("core", "bundled", "text", "io", "stages"),
    "api": ("core", "bundled", "text", "io", *DOMAIN, "stages", "pipeline"),
}
_TOP = {
    "web": (*_BELOW["api"], "api"),
    "papers": (*_BELOW["api"], "api", "web"),
}
MAY_IMPORT = {**_BELOW, **_TOP, "cli": (*_TOP["papers"], "papers")}
"""Package → the packages that it may import besides itself."""

EXTRAS = frozenset(
    [
        "torch",
        "transformers",
        "ray",
        "spacy",
        "stanza",
        "faiss",
        "onnx",
        "onnxruntime",
        "sentence_transformers",
        "tomotopy",
        "sklearn",
        "nltk",
        "trafilatura",
        "justext",
        "PIL",
        "imagehash",
        "warcio",
        "lingua",
        "varikn",
        "tokenizers",
        "model2vec",
        "datasets",
        "lxml",
        "huggingface_hub",
        "httpx",
    ]
)
"""Packages of the extras: a module that needs one at its top is imported where it is used."""


def module_name(path: Path) -> str:
    """`paraloom.mt.training` for src/paraloom/mt/training.py."""
    parts = ("paraloom", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imported(node: ast.AST, modules: dict[str, Path] = MODULES) -> set[str]:
    """The modules of ours that an import statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if alias.name in modules}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        whole = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
        rest = {node.module} if len(whole) < len(node.names) and node.module in modules else set()
        return whole | rest
    return set()


def statements(tree: ast.Module, *, top: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements at the top of a module, or those inside functions; `if TYPE_CHECKING` counts as neither."""
    at_top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if top:
        yield from at_top
        return
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from (node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom)))


@cache
def parsed(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def imports_at_top(name: str) -> set[str]:
    """The modules of ours that a module imports at its top."""
    return set().union(*(imported(node) for node in statements(parsed(name), top=True))) - {name}


def needs_extra(module: str) -> bool:
    """Whether importing a module imports a package of an extra."""
    seen, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in statements(parsed(name), top=True):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if {package.split(".")[0] for package in names} & EXTRAS:
                return True
        waiting += imports_at_top(name)
    return False


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_one_way(package: str) -> None:
    allowed = {package, *MAY_IMPORT[package]}
    wrong = {}
    for name in MODULES:
        if name.split(".")[1:2] == [package]:
            both = (node for top in (True, False) for node in statements(parsed(name), top=top))
            targets = {target for node in both for target in imported(node) if "." in target}
            wrong[name] = sorted({target.split(".")[1] for target in targets} - allowed)
    assert wrong, "a package of the map has modules"
    assert not any(wrong.values()), f"{package} may import {sorted(allowed)}, not {wrong}"


COMMANDS_OF_PAPERS = ("paraloom.cli.papers", "paraloom.cli.research")
"""The modules outside `papers` that import it; registries name its objects as 'module:name'."""


def test_nothing_outside_papers_imports_papers() -> None:
    users = {
        name
        for name in MODULES
        if not name.startswith("paraloom.papers")
        for node in ast.walk(parsed(name))
        if any(target.startswith("paraloom.papers") for target in imported(node))
    }
    assert users == set(COMMANDS_OF_PAPERS)


def registered() -> set[str]:
    """The constants outside `papers` that name an object in it, as registries do."""
    return {
        node.value
        for name in MODULES
        if not name.startswith("paraloom.papers")
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.Constant) and re.fullmatch(r"paraloom\.papers[\w.]*:\w+", str(node.value))
    }


def test_what_registries_name_in_papers_exists() -> None:
    assert len(registered()) > 10
    for target in registered():
        module, _, name = target.partition(":")
        assert name in {getattr(node, "name", "") for node in parsed(module).body}, target


def test_every_package_is_on_the_map() -> None:
    assert {name.split(".")[1] for name in MODULES if "." in name and name != "paraloom.__main__"} == set(MAY_IMPORT)


COMPOSING = ("stages", "api")
"""Packages whose functions import what they compute with, so that declaring and checking a stage loads little."""


def test_our_own_modules_are_imported_at_the_top() -> None:
    wrong = {}
    for name in MODULES:
        late = {target for node in statements(parsed(name), top=False) for target in imported(node)}
        if name.split(".")[1:2] and name.split(".")[1] in COMPOSING:
            late -= {target for target in late if target.split(".")[1] not in ("core", "io", "bundled")}
        wrong[name] = sorted(target for target in late if not needs_extra(target))
    late = {name: targets for name, targets in wrong.items() if targets}
    assert not late, f"move to the top of the file: {late}"


def test_no_circles() -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"import circle: {' → '.join([*path[path.index(name) :], name])}"
        if name not in done:
            for target in sorted(imports_at_top(name)):
                visit(target, (*path, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


def test_one_class_of_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for name in MODULES:
        for node in parsed(name).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_the_checks_see_imports() -> None:
    tree = ast.parse("import paraloom.core.errors\ndef f():\n    from paraloom.cli.main import app\n")
    assert [imported(node) for node in statements(tree, top=True)] == [{"paraloom.core.errors"}]
    assert [imported(node) for node in statements(tree, top=False)] == [{"paraloom.cli.main"}]
    assert needs_extra("paraloom.mt.network") and not needs_extra("paraloom.core.errors")


def test_a_file_says_what_it_is_for() -> None:
    for path in FILES:
        first = (ast.get_docstring(parsed(module_name(path))) or "").partition("\n")[0]
        assert first.endswith(".") and len(first) > 15, path
        assert path.stem not in ("utils", "helpers", "misc", "common"), path
        assert len(path.relative_to(ROOT).parts) <= 3, path


@pytest.mark.slow
def test_the_command_starts_without_heavy_packages() -> None:
    heavy = ("torch", "transformers", "ray", "numba", "ctranslate2", "duckdb", "scipy", "pyarrow", "numpy")
    script = f"import sys, paraloom.cli.main; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parquet_has_one_reader_and_one_writer() -> None:
    """Page checksums are written and verified in `io.shards`; pyarrow does neither by default, DuckDB knows none."""
    users = {
        name
        for name in MODULES
        for node in ast.walk(parsed(name))
        if (isinstance(node, ast.Import) and any(alias.name.startswith("pyarrow.parquet") for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("pyarrow.parquet", "pyarrow.dataset")))
        or (isinstance(node, ast.ImportFrom) and node.module == "pyarrow" and "parquet" in {a.name for a in node.names})
    }
    assert users == {"paraloom.io.shards"}


def test_nothing_is_unpickled() -> None:
    for path in FILES:
        text = re.sub(r"torch\.load\([^()]*, weights_only=True\)", "", path.read_text(encoding="utf-8"))
        for call in ("pickle.load", "torch.load", "allow_pickle=True", "joblib.load"):
            assert call not in text, f"{path.name} calls {call}"


def is_constant(node: ast.AST) -> bool:
    """Whether a text is a constant, or chosen among constants."""
    if isinstance(node, ast.IfExp):
        return is_constant(node.body) and is_constant(node.orelse)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """The calls of functions or methods of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in names:
                yield node


def is_query(node: ast.AST, tree: ast.AST) -> bool:
    """Whether an argument is a constant, a call of `sql`, or a name that stands for nothing else in the module."""
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in ast.walk(tree)
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == node.id
        ]
        annotations = [
            ast.unparse(argument.annotation)
            for argument in ast.walk(tree)
            if isinstance(argument, ast.arg) and argument.arg == node.id and argument.annotation
        ]
        return (
            bool(values or annotations) and all(is_query(value, tree) for value in values) and {*annotations} <= {"Sql"}
        )
    return is_constant(node) or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sql")


def test_queries_are_constants() -> None:
    wrong = []
    for name in MODULES:
        tree = parsed(name)
        queries = [call for call in calls(tree, "execute", "executemany", "executescript", "sql", "query") if call.args]
        for call in queries:
            if ast.unparse(call.func) == "sql":  # Only what replaces a placeholder is data.
                wrong += [] if is_constant(call.args[0]) else [f"{name}: {ast.unparse(call)}"]
            else:
                wrong += [] if is_query(call.args[0], tree) else [f"{name}: {ast.unparse(call)}"]
        if name == "paraloom.io.database":
            continue
        if name != "paraloom.pairs.filtering.condition_tree":
            wrong += [f"{name}: {ast.unparse(call)}" for call in calls(tree, "Sql") if not is_constant(call.args[0])]
        opened = [call for call in calls(tree, "connect") if ast.unparse(call.func) == "duckdb.connect"]
        wrong += [f"{name}: {ast.unparse(call)}, but io.database opens databases" for call in opened]
    assert not wrong, "build queries with io.database.sql"


def test_names_of_files_are_not_patterns() -> None:
    wrong = []
    for name in MODULES:
        texts = (node.value for node in ast.walk(parsed(name)) if isinstance(node, ast.Constant))
        if name != "paraloom.io.database":
            tables = re.compile(r"(?i)\b(read_parquet|parquet_scan|read_csv_auto|read_json_auto)\s*\(")
            wrong += [f"{name}: {text}" for text in texts if isinstance(text, str) and tables.search(text)]
        for call in calls(parsed(name), "glob", "rglob", "iglob"):
            pattern = call.args[0]
            escaped = {ast.unparse(escape) for escape in calls(pattern, "escape")}
            parts = pattern.values if isinstance(pattern, ast.JoinedStr) else []
            loose = [part.value for part in parts if isinstance(part, ast.FormattedValue)]
            if not all(ast.unparse(part) in escaped or is_module_constant(part, parsed(name)) for part in loose):
                wrong.append(f"{name}: {ast.unparse(call)}")
    assert not wrong


def test_the_checks_see_queries() -> None:
    bad = ast.parse("def f(name):\n    database.execute(f'SELECT {name}')\n    database.execute(name)\n")
    assert [is_query(call.args[0], bad) for call in calls(bad, "execute")] == [False, False]
    good = ast.parse("query = sql('SELECT {}', name)\ndatabase.execute(query)\ndatabase.execute('SELECT 1')\n")
    assert [is_query(call.args[0], good) for call in calls(good, "execute")] == [True, True]


def is_module_constant(node: ast.AST, tree: ast.Module) -> bool:
    """Whether a name is assigned a constant at the top of a module."""
    return any(
        isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == ast.unparse(node)
        for statement in tree.body
    )
