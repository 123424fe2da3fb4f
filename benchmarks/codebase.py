"""Print a table about a checkout: files, imports, duplicated code, old words, public names, types, start-up times.

    python benchmarks/codebase.py --repo .
    python benchmarks/codebase.py --repo ../before --json

It reads the sources and runs short commands of the checkout's own code; it trains nothing and needs no data.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parents[1]
"""The checkout that this script is in: its list of old words is applied to the other one."""

WINDOW = 6
"""Lines of a duplicated stretch, at least."""

DOCSTRINGS = HERE / "tests/docstrings.py"
"""The script that lists the public names, the modules that define them, and what their docstrings lack."""


@dataclass(frozen=True)
class Checkout:
    """The parsed sources of a checkout.

    Args:
        repo: Its folder.
        paths: Module name → file.
        texts: Module name → source.
        trees: Module name → syntax tree.
    """

    repo: Path
    paths: dict[str, Path]
    texts: dict[str, str]
    trees: dict[str, ast.Module]

    @classmethod
    def read(cls, repo: Path) -> Checkout:
        """Parse src/paraloom of a checkout."""
        root = repo / "src"
        paths = {}
        for path in sorted((root / "paraloom").rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        if not paths:
            sys.exit(f"no Python files found in {root / 'paraloom'}")
        texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
        return cls(repo, paths, texts, {name: ast.parse(text) for name, text in texts.items()})

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Python with the checkout's own code."""
        environment = {**os.environ, "PYTHONPATH": str(self.repo / "src")}
        return subprocess.run(
            [sys.executable, *command], env=environment, cwd=self.repo, capture_output=True, text=True, check=check
        )


def sizes(checkout: Checkout) -> dict[str, Any]:
    """Files, lines, and the lengths of files and functions in lines."""
    lengths = {name: text.count("\n") for name, text in checkout.texts.items()}
    largest = max(lengths, key=lambda name: lengths[name])
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in checkout.trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        "files": len(lengths),
        "lines": sum(lengths.values()),
        "median file": median(lengths.values()),
        "largest file": lengths[largest],
        "largest file name": largest,
        "functions": len(functions),
        "median function": median(functions),
    }


def imported(node: ast.Import | ast.ImportFrom, modules: dict[str, Path]) -> set[str]:
    """The modules of the package that an import statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if alias.name in modules}
    if node.level or not node.module:
        return set()
    submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
    package = {node.module} if len(submodules) < len(node.names) and node.module in modules else set()
    return submodules | package


def import_statements(tree: ast.Module, inside: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements at the top of a module, or inside its functions; each once."""
    if not inside:
        yield from (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        return
    seen: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in seen:
                    seen.add(id(node))
                    yield node


def imports(checkout: Checkout) -> dict[str, Any]:
    """Imports inside functions, and import circles of more than one file, with imports inside functions counted."""
    own = foreign = 0
    graph: dict[str, set[str]] = {name: set() for name in checkout.trees}
    typed: dict[str, set[str]] = {name: set() for name in checkout.trees}
    for name, tree in checkout.trees.items():
        for inside in (False, True):
            for node in import_statements(tree, inside):
                targets = imported(node, checkout.paths)
                graph[name] |= targets - {name}
                if inside:
                    own += bool(targets)
                    foreign += not targets
        for any_node in ast.walk(tree):
            if isinstance(any_node, ast.Import | ast.ImportFrom):
                typed[name] |= imported(any_node, checkout.paths) - {name}
    circles = [sorted(part) for part in components(graph) if len(part) > 1]
    typed_circles = [sorted(part) for part in components(typed) if len(part) > 1]
    return {
        "own imports inside functions": own,
        "foreign imports inside functions": foreign,
        "import circles": len(circles),
        "with imports for type checkers": len(typed_circles),
        "circles": typed_circles,
    }


def components(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of a directed graph.

    Reference:
        Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    parts: list[set[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        on_stack.add(node)
        for target in sorted(graph[node]):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in on_stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            part = set()
            while node not in part:
                member = stack.pop()
                on_stack.discard(member)
                part.add(member)
            parts.append(part)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10 * len(graph)))
    for node in graph:
        if node not in order:
            visit(node)
    sys.setrecursionlimit(limit)
    return parts


def code_lines(text: str, tree: ast.Module) -> list[tuple[int, str]]:
    """Line number and text of the lines of code: no blank lines, comments, docstrings or imports; stripped."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        is_string = isinstance(value, ast.Constant) and isinstance(value.value, str)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_string:
            assert isinstance(node, ast.stmt)
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.strip()
        if code and not code.startswith("#") and number not in skipped:
            lines.append((number, re.sub(r"\s+", " ", code)))
    return lines


def duplicates(checkout: Checkout) -> dict[str, Any]:
    """Pairs of places with the same WINDOW or more lines of code."""
    sources = {name: code_lines(text, checkout.trees[name]) for name, text in checkout.texts.items()}
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, lines in sources.items():
        for start in range(len(lines) - WINDOW + 1):
            window = tuple(line for _, line in lines[start : start + WINDOW])
            if sum(len(line) > 3 for line in window) >= WINDOW - 2:  # brackets alone are not a stretch of code
                windows[window].append((name, start))
    matches = {
        (first, second)
        for indices in windows.values()
        for i, first in enumerate(indices)
        for second in indices[i + 1 :]
        if first[0] != second[0] or abs(first[1] - second[1]) >= WINDOW
    }
    stretches = []
    for first, second in sorted(matches):
        if ((first[0], first[1] - 1), (second[0], second[1] - 1)) in matches:
            continue
        length = WINDOW
        while ((first[0], first[1] + length - WINDOW + 1), (second[0], second[1] + length - WINDOW + 1)) in matches:
            length += 1
        left, right = (f"{name}:{sources[name][start][0]}" for name, start in (first, second))
        stretches.append(f"{left} {right} ({length} lines)")
    return {"duplicated stretches": len(stretches), "stretches": stretches}


def language_test() -> ModuleType:
    """The test of plain language of the checkout that this script is in."""
    spec = importlib.util.spec_from_file_location("language_test", HERE / "tests/test_language.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def old_words(checkout: Checkout) -> dict[str, Any]:
    """Words and names of the glossary of old words in sources, tests, docs and examples."""
    language = language_test()
    words = names = 0
    files: dict[str, int] = {}
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    candidates = [path for folder in folders for path in sorted((checkout.repo / folder).rglob("*"))]
    candidates += [*checkout.repo.glob("*.md"), *checkout.repo.glob("*.toml"), checkout.repo / "Makefile"]
    for path in candidates:
        if not path.is_file() or path.relative_to(checkout.repo).as_posix() in (*language.OWN, "CHANGELOG.md"):
            continue
        if path.suffix not in (".py", ".md", ".toml") and path.name != "Makefile":
            continue
        text = path.read_text(encoding="utf-8")
        of_words = len(list(language.old_words(text)))
        of_names = len(list(language.old_names(ast.parse(text)))) if path.suffix == ".py" else 0
        words, names = words + of_words, names + of_names
        if of_words + of_names:
            files[path.relative_to(checkout.repo).as_posix()] = of_words + of_names
    worst = dict(sorted(files.items(), key=lambda item: -item[1])[:10])
    return {"old words": words, "old names": names, "files with most old words": worst}


def public(checkout: Checkout) -> dict[str, Any]:
    """Public names, the share of public docstrings that are complete, and mypy's strict errors in their modules."""
    ended = checkout.run(str(DOCSTRINGS), check=False)
    if ended.returncode:
        return {"public names": None, "note": ended.stderr.strip().splitlines()[-1]}
    record = json.loads(ended.stdout.splitlines()[-1])
    names, missing = record["names"], record["missing"]
    return {
        "public names": len(names),
        "complete docstrings": round(1 - len(missing) / record["objects"], 3) if names else None,
        "incomplete": missing,
        "mypy errors, strict": strict_errors(checkout, record["modules"]),
    }


def strict_errors(checkout: Checkout, modules: list[str]) -> int | str | None:
    """Errors of `mypy --strict` in the modules that define public names; a note where it cannot run."""
    if not modules:
        return None
    if importlib.util.find_spec("mypy") is None:
        return "mypy not installed"
    paths = [str(checkout.paths[module]) for module in modules if module in checkout.paths]
    options = ("--strict", "--no-error-summary", "--follow-imports=silent")
    ended = checkout.run("-m", "mypy", *options, *paths, check=False)
    if ended.returncode > 1:
        return f"mypy failed: {(ended.stderr or ended.stdout).strip().splitlines()[-1]}"
    return sum(": error:" in line for line in ended.stdout.splitlines())


def start_up(checkout: Checkout, times: int = 5) -> dict[str, Any]:
    """Median seconds of `import paraloom` and of `paraloom --version`, without the start of Python itself."""

    def seconds(*command: str) -> float:
        durations = []
        for _ in range(times):
            start = time.perf_counter()
            checkout.run(*command)
            durations.append(time.perf_counter() - start)
        return median(durations)

    empty = seconds("-c", "pass")
    return {
        "start of Python, s": round(empty, 3),
        "import paraloom, s": round(max(0.0, seconds("-c", "import paraloom") - empty), 3),
        "paraloom --version, s": round(seconds("-m", "paraloom.cli.main", "--version"), 3),
    }


def readme(checkout: Checkout) -> dict[str, Any]:
    """The length of the README."""
    path = checkout.repo / "README.md"
    return {"README lines": path.read_text(encoding="utf-8").count("\n") if path.exists() else None}


def main() -> None:
    """Print the table, or all details as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, default=HERE, help="the checkout (default: the one of this script)")
    parser.add_argument("--json", action="store_true", help="print all details as JSON")
    options = parser.parse_args()
    checkout = Checkout.read(options.repo.resolve())
    figures: dict[str, Any] = {}
    for part in (sizes, imports, duplicates, old_words, public, readme, start_up):
        figures |= part(checkout)
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    for name, value in figures.items():
        if not isinstance(value, dict | list):
            shown = f"{value:,}" if isinstance(value, int) else "–" if value is None else str(value)
            print(f"{name:<34} {shown:>12}")


if __name__ == "__main__":
    main()
