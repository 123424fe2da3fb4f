"""Measure a checkout for the page "Codebase": its lines, options, functions, and what its commands load.

    python benchmarks/codebase.py --repo ../before --record before
    python benchmarks/codebase.py --record after
    python benchmarks/codebase.py

The first two write docs/explanations/results/codebase.json and its page; the third prints what the sources say.
Nothing is trained, and no data are needed. Seconds are of the processor: the least of several runs.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from codebase_loading import loading
from results_pages import FOLDER, read_topic, write_pages, write_topic

HERE = Path(__file__).resolve().parents[1]
"""The checkout that this script is in."""

PAGE = "codebase"
"""The topic that --record writes."""

WINDOW = 6
"""Lines of a duplicated stretch, at least."""

MANY_PARAMETERS, COMPLEX = 10, 15
"""More parameters of a function, and a higher cyclomatic complexity, are counted."""

GENERAL = frozenset(
    f"--{name}"
    for name in (
        *("json", "force", "seed", "workers", "engine", "device", "on-error"),
        *("log-file", "on-end", "on-end-post"),
    )
)
"""Options that mean the same in every command that has them."""

AIMS = {
    "lines of the product": "≤ 52,000",
    "lines of the papers": "≤ 13,000",
    "docstrings, % of the product": "≤ 18",
    "commands and groups on the front page": "≤ 22",
    "options of all commands": "≤ 400",
    "options of the longest command": "≤ 25",
}

BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
"""Nodes that add a way through a function."""

OPTIONS = """
import json
import click
import typer.main
from paraloom.cli.main import app
def walk(command, path, hidden):
    hidden = hidden or command.hidden
    if hasattr(command, "commands"):
        for name, member in command.commands.items():
            yield from walk(member, [*path, name], hidden)
    else:
        options = [p for p in command.params if p.param_type_name == "option" and p.name not in ("help", "help_all")]
        names = [max(p.opts, key=len) for p in options]
        hid = sum(p.hidden for p in options)
        yield " ".join(path), {"options": len(options), "hidden": hid, "listed": not hidden, "names": names}
group = typer.main.get_command(app)
front = sum(not command.hidden for command in group.commands.values())
print(json.dumps({"front": front, "commands": dict(walk(group, [], False))}))
"""
"""Prints the commands of a checkout with their options, --help and --help-all apart."""


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


def line_kinds(text: str, tree: ast.Module) -> dict[str, int]:
    """All lines of a file, those of docstrings, and those of code; the rest is blank or a comment."""
    strings: set[int] = set()
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(node, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            strings |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = text.splitlines()
    code = sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in strings
        for number, line in enumerate(lines, start=1)
    )
    return {"lines": len(lines), "code": code, "docstrings": len(strings)}


def is_paper(module: str) -> bool:
    """Whether a module is of the papers' packages, not of the product."""
    return module.split(".")[1:2] == ["papers"]


def packages(checkout: Checkout) -> dict[str, dict[str, int]]:
    """Package → files, lines, code and docstrings; modules of the top level are `paraloom`."""
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for name, text in checkout.texts.items():
        parts = name.split(".")
        is_package = len(parts) > 1 and checkout.paths[name].name == "__init__.py"
        package = parts[1] if len(parts) > 2 or is_package else parts[0]
        sizes[package].update({"files": 1, **line_kinds(text, checkout.trees[name])})
    return {package: dict(sizes[package]) for package in sorted(sizes)}


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods of a module."""
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def complexity(function: ast.AST) -> int:
    """Cyclomatic complexity, boolean operators and comprehensions included; inner functions count by themselves."""
    total = 1
    nodes = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(
            node, ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
        ):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        nodes.extend(ast.iter_child_nodes(node))
    return total


def annotations(tree: ast.Module) -> Iterator[ast.expr]:
    """Annotations of parameters, results and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns


def structure(checkout: Checkout) -> dict[str, int]:
    """Counts of the product's functions and annotations."""
    trees = [tree for name, tree in checkout.trees.items() if not is_paper(name)]
    functions = [function for tree in trees for function in functions_of(tree)]
    parameters = [
        len(function.args.posonlyargs) + len(function.args.args) + len(function.args.kwonlyargs)
        for function in functions
    ]
    complexities = [complexity(function) for function in functions]
    annotated = [node for tree in trees for annotation in annotations(tree) for node in ast.walk(annotation)]
    return {
        "functions": len(functions),
        "median function": int(median(function.end_lineno - function.lineno + 1 for function in functions)),  # type: ignore[operator]
        "many parameters": sum(count > MANY_PARAMETERS for count in parameters),
        "complex": sum(value > COMPLEX for value in complexities),
        "most complex": max(complexities),
        "Any": sum(isinstance(node, ast.Name) and node.id == "Any" for node in annotated),
    }


def commands(checkout: Checkout) -> dict[str, Any]:
    """The commands with their options, and how many of the top level `paraloom --help` lists."""
    record: dict[str, Any] = json.loads(checkout.run("-c", OPTIONS).stdout.splitlines()[-1])
    return record


def static_figures(checkout: Checkout) -> dict[str, Any]:
    """What the sources say without measuring: seconds, not minutes."""
    return {
        "packages": packages(checkout),
        "structure": structure(checkout),
        **commands(checkout),
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


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """The rows of the first table."""
    product = Counter[str]()
    papers = Counter[str]()
    for package, sizes in figures["packages"].items():
        (papers if package == "papers" else product).update(sizes)
    counts, options = figures["structure"], [command["options"] for command in figures["commands"].values()]
    names = [name for command in figures["commands"].values() for name in command["names"]]
    general = GENERAL & {*names}
    return {
        "files of the product": product["files"],
        "lines of the product": product["lines"],
        "of these, code": product["code"],
        "of these, docstrings": product["docstrings"],
        "docstrings, % of the product": round(100 * product["docstrings"] / product["lines"]),
        "lines of the papers": papers["lines"] or None,
        "commands and groups on the front page": figures["front"],
        "commands in all": len(options),
        "options of all commands": sum(name not in GENERAL for name in names) + len(general),
        "of these, general options, said once": len(general),
        "options, general ones counted with each command": sum(options),
        "options of the longest command": max(options),
        "functions of the product": counts["functions"],
        "median function, lines": counts["median function"],
        f"functions with more than {MANY_PARAMETERS} parameters": counts["many parameters"],
        f"functions of a complexity above {COMPLEX}": counts["complex"],
        "highest complexity": counts["most complex"],
        "`Any` in annotations": counts["Any"],
        f"duplicated stretches of {WINDOW} lines or more": figures.get("duplicated stretches"),
        "import circles": figures.get("import circles"),
    }


def shown(value: object) -> str:
    """A figure as a cell."""
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def tables(before: dict[str, Any], after: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The page's results, out of what was recorded of both checkouts."""
    sides = [before, after]
    present = [side for side in sides if side is not None]

    def cells(values: list[object]) -> list[str]:
        return [shown(value) for value in values]

    def figures(part: str, name: str, *keys: str) -> list[str]:
        return cells([(side or {}).get(part, {}).get(name, {}).get(key) for side in sides for key in keys])

    summaries = [summary(side) if side else {} for side in sides]
    first = [[row, *cells([side.get(row) for side in summaries]), AIMS.get(row, "")] for row in summaries[0]]
    second = [[name, *figures("loading", name, "modules", "seconds")] for name in before["loading"]]
    last = present[-1]
    shared = {
        "command": [
            "python benchmarks/codebase.py --repo BEFORE --record before",
            "python benchmarks/codebase.py --record after",
        ],
        "commit": last["commit"],
        "date": last["date"],
        "version": "0.2",
        "machine": "cores",
        "earlier": [f"{side['commit']} {side['date']}" for side in present[:-1]],
    }
    loads = [f"{side}, {kind}" for side in ("before", "after") for kind in ("modules of ours", "processor seconds")]
    return [
        {"heading": "In all", **shared, "columns": ["", "before", "after", "aim"], "align": "lrrr", "rows": first},
        {"heading": "Modules and seconds", **shared, "text": LOADING_TEXT, **_columns(loads), "rows": second},
    ]


def _columns(names: list[str]) -> dict[str, Any]:
    return {"columns": ["", *names], "align": "l" + "r" * len(names)}


LOADING_TEXT = [
    "The least of five runs, with byte code compiled, of processes that the command starts as well; modules are those "
    "of `paraloom` in the first process when it ends. `numpy` and `pyarrow` are bare imports: "
    "processors differ, so compare within a column."
]


def record(checkout: Checkout, side: str) -> None:
    """Measure a checkout and write the topic's JSON and page."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=checkout.repo, capture_output=True, text=True, check=True
    ).stdout.strip()
    figures = {
        "commit": commit,
        "date": date.today().isoformat(),
        **static_figures(checkout),
        **{name: value for name, value in (imports(checkout) | duplicates(checkout)).items() if isinstance(value, int)},
        "loading": loading(checkout.repo),
    }
    topic = read_topic(FOLDER / f"{PAGE}.json")
    recorded = {**topic.get("recorded", {}), side: figures}
    results = tables(recorded["before"], recorded.get("after"))
    write_topic(FOLDER / f"{PAGE}.json", {**topic, "results": results, "recorded": recorded})
    write_pages()


def main() -> None:
    """Print what the sources say, or record it for the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, default=HERE, help="the checkout (default: the one of this script)")
    parser.add_argument("--record", choices=["before", "after"], help="measure all, and write the page's column")
    parser.add_argument("--json", action="store_true", help="print the details that need no measuring as JSON")
    options = parser.parse_args()
    checkout = Checkout.read(options.repo.resolve())
    if options.record:
        record(checkout, options.record)
        return
    figures = static_figures(checkout) | imports(checkout) | duplicates(checkout)
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    for name, value in summary(figures).items():
        print(f"{name:<48} {shown(value):>10}")


if __name__ == "__main__":
    main()
