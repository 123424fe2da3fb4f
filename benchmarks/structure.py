"""Draw the packages of a checkout and their imports as an SVG file.

    python benchmarks/structure.py -o docs/_static/structure-after.svg

A box is a package and a tile in it a file, its area proportional to its lines of text. A package stands above all
packages that it imports. Files that import our own modules inside functions are amber, files in an import circle red.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TypeAlias

from codebase import HERE, Checkout, components, import_statements, imported

AREA = 5.2
"""Square pixels per line of text."""
TILES, TITLE, PADDING = 108, 34, 7
"""Height of the tiles of a package, height of its title, and the space around them."""
COLUMN_GAP, ROW_GAP, MARGIN = 18, 78, 36
MIN_WIDTH = 128

Tile: TypeAlias = tuple[str, float, float, float, float]
"""Name, x, y, width, height."""

STYLE = """
  text { font-family: -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: #24324a; }
  .page { fill: #f8fafc; }
  .package { fill: #ffffff; stroke: #9fb1c9; stroke-width: 1.2; }
  .file { fill: #cfdded; stroke: #ffffff; stroke-width: 1; }
  .late { fill: #f3bd6a; }
  .circle { fill: #dd4b4b; }
  .name { font-size: 15px; font-weight: 600; }
  .size { font-size: 10.5px; fill: #66758c; }
  .title { font-size: 19px; font-weight: 600; }
  .note { font-size: 12px; fill: #4d5b73; }
  .import { fill: none; stroke: #53698c; stroke-opacity: 0.85; }
  .implied { fill: none; stroke: #7f93b2; stroke-opacity: 0.28; }
  .back { fill: none; stroke: #b51f1f; stroke-width: 1.6; }
"""


@dataclass
class Package:
    """A package and where it is drawn.

    Args:
        name: Its name.
        files: Module name → lines.
        level: 0 for the bottom row.
        x: Left edge.
        y: Upper edge.
    """

    name: str
    files: dict[str, int] = field(default_factory=dict)
    level: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def lines(self) -> int:
        return sum(self.files.values())

    @property
    def width(self) -> float:
        return max(MIN_WIDTH, 9.6 * len(self.name) + 2 * PADDING, self.lines * AREA / TILES + 2 * PADDING)

    @property
    def center(self) -> float:
        return self.x + self.width / 2

    @property
    def height(self) -> float:
        return TITLE + TILES + PADDING

    @property
    def tile_area(self) -> tuple[float, float, float, float]:
        """x, y, width and height of the rectangle that its tiles fill."""
        area = self.lines * AREA
        if area / TILES < MIN_WIDTH / 3:  # a small package: a square instead of a sliver
            side = area**0.5
            return self.x + (self.width - side) / 2, self.y + TITLE + (TILES - side) / 2, side, side
        width = area / TILES
        return self.x + (self.width - width) / 2, self.y + TITLE, width, TILES

    def tiles(self) -> Iterator[Tile]:
        """A tile for each file."""
        return treemap(list(self.files.items()), *self.tile_area)


@dataclass
class Structure:
    """What is drawn.

    Args:
        packages: By name.
        edges: Package that imports, package that is imported → number of import statements.
        late: Files that import our own modules inside functions.
        late_imports: Number of those import statements.
        circles: Files that import each other, imports for type checkers included; `paraloom/__init__.py`, which
            imports every public name when it is used, is left out.
        targets: File → files that it imports.
    """

    packages: dict[str, Package]
    edges: Counter[tuple[str, str]]
    late: set[str]
    late_imports: int
    circles: list[set[str]]
    targets: dict[str, set[str]]

    @classmethod
    def read(cls, checkout: Checkout) -> Structure:
        """Collect packages and imports of a checkout."""
        modules = {name: path for name, path in checkout.paths.items() if "." in name}
        packages: dict[str, Package] = {}
        edges: Counter[tuple[str, str]] = Counter()
        late: list[str] = []
        targets: dict[str, set[str]] = {}
        for name in modules:
            tree, package = checkout.trees[name], name.split(".")[1]
            packages.setdefault(package, Package(package)).files[name] = checkout.texts[name].count("\n")
            for inside in (False, True):
                for statement in import_statements(tree, inside):
                    own = imported(statement, modules)
                    late += [name] * (inside and bool(own))
                    edges.update((package, target) for target in {target.split(".")[1] for target in own} - {package})
            statements = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
            targets[name] = set().union(*(imported(statement, modules) for statement in statements)) - {name}
        circles = [part for part in components(targets) if len(part) > 1]
        return cls(packages, edges, set(late), len(late), circles, targets)


def set_levels(packages: Mapping[str, Package], edges: Mapping[tuple[str, str], int]) -> None:
    """Put every package above those that it imports, and as near as possible below those that import it."""
    graph = {name: {b for a, b in edges if a == name} for name in packages}
    parts = [frozenset(part) for part in components(graph)]  # in order: what is imported comes first
    part_of = {name: part for part in parts for name in part}
    below = {part: {part_of[target] for name in part for target in graph[name]} - {part} for part in parts}
    levels: dict[frozenset[str], int] = {}
    for part in parts:
        levels[part] = 1 + max((levels[other] for other in below[part]), default=-1)
    above: dict[frozenset[str], list[frozenset[str]]] = defaultdict(list)
    for part, others in below.items():
        for other in others:
            above[other].append(part)
    for part in reversed(parts):
        if above[part]:
            levels[part] = min(levels[other] for other in above[part]) - 1
    for part, level in levels.items():
        for name in part:
            packages[name].level = level


def set_positions(packages: Mapping[str, Package]) -> tuple[float, float]:
    """Set the position of each package; returns width and height of the drawing."""
    rows: dict[int, list[Package]] = defaultdict(list)
    for package in sorted(packages.values(), key=lambda package: package.name):
        rows[package.level].append(package)
    row_width = {
        level: sum(package.width for package in row) + COLUMN_GAP * (len(row) - 1) for level, row in rows.items()
    }
    width = max(*row_width.values(), 900.0) + 2 * MARGIN
    top = 92.0
    for level in sorted(rows, reverse=True):
        x = (width - row_width[level]) / 2
        for package in rows[level]:
            package.x, package.y = x, top
            x += package.width + COLUMN_GAP
        top += rows[level][0].height + ROW_GAP
    return width, top - ROW_GAP + 92


def treemap(sizes: Sequence[tuple[str, float]], x: float, y: float, width: float, height: float) -> Iterator[Tile]:
    """Name, x, y, width and height of tiles that fill a rectangle, nearly square.

    Reference:
        Bruls, Huizing, van Wijk, "Squarified treemaps", 2000.
    """
    remaining = sorted(sizes, key=lambda item: (-item[1], item[0]))
    scale = width * height / max(1.0, sum(size for _, size in remaining))
    while remaining:
        side = min(width, height)
        row: list[tuple[str, float]] = []
        for item in remaining:
            if row and _worst([*row, item], side, scale) > _worst(row, side, scale):
                break
            row.append(item)
        remaining = remaining[len(row) :]
        depth = sum(size for _, size in row) * scale / side
        offset = 0.0
        for name, size in row:
            length = size * scale / depth
            if width >= height:
                yield name, x, y + offset, depth, length
            else:
                yield name, x + offset, y, length, depth
            offset += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
        if width <= 0 or height <= 0:
            return


def _worst(row: Sequence[tuple[str, float]], side: float, scale: float) -> float:
    """The largest ratio of the sides of the tiles of a row."""
    areas = [max(size, 1e-9) * scale for _, size in row]
    total = sum(areas)
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in areas)


def implied(edges: Mapping[tuple[str, str], int]) -> set[tuple[str, str]]:
    """The imports of packages that are also imported by way of another package."""
    graph: dict[str, set[str]] = defaultdict(set)
    for a, b in edges:
        graph[a].add(b)

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        return seen

    reach = {name: reachable(name) for name in list(graph)}
    return {(a, b) for a, b in edges if any(b in reach.get(other, ()) for other in graph[a] - {b})}


def draw_arrows(packages: Mapping[str, Package], edges: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """An arrow from each package to those that it imports, wider for more import statements."""
    faint = implied(edges)
    ports: dict[tuple[str, str, bool], float] = {}
    for name, package in packages.items():
        for outgoing in (True, False):
            own = [edge for edge in edges if edge[0 if outgoing else 1] == name]
            own.sort(key=lambda edge: packages[edge[1 if outgoing else 0]].center)
            for index, edge in enumerate(own):
                ports[(*edge, outgoing)] = package.x + package.width * (index + 1) / (len(own) + 1)
    for edge in sorted(edges, key=lambda edge: edge not in faint):
        a, b = packages[edge[0]], packages[edge[1]]
        x1, x2 = ports[(*edge, True)], ports[(*edge, False)]
        y1, y2 = a.y + a.height, b.y - 5
        if a.level <= b.level:  # an import circle of packages
            yield (
                f'<path class="back" marker-end="url(#red)" '
                f'd="M{x1:.1f},{a.y:.1f} C{x1:.1f},{a.y - 60:.1f} {x2:.1f},{b.y - 60:.1f} {x2:.1f},{y2:.1f}"/>'
            )
            continue
        bend = max(30.0, (y2 - y1) * 0.45)
        kind, head = ("implied", "grey") if edge in faint else ("import", "blue")
        stroke = 0.8 + 0.35 * edges[edge].bit_length()
        yield (
            f'<path class="{kind}" stroke-width="{stroke:.1f}" marker-end="url(#{head})" '
            f'd="M{x1:.1f},{y1:.1f} C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} {x2:.1f},{y2:.1f}"/>'
        )


def draw_package(package: Package, kinds: Mapping[str, str]) -> Iterator[str]:
    """The box of a package with a tile for each file."""
    yield (
        f'<rect class="package" x="{package.x:.1f}" y="{package.y:.1f}" '
        f'width="{package.width:.1f}" height="{package.height:.1f}" rx="6"/>'
    )
    x, count = package.x + PADDING, len(package.files)
    size = f"{count} file{'s' * (count != 1)}, {package.lines:,} lines"
    yield f'<text class="name" x="{x:.1f}" y="{package.y + 16:.1f}">{escape(package.name)}</text>'
    yield f'<text class="size" x="{x:.1f}" y="{package.y + 28:.1f}">{size}</text>'
    for name, left, top, width, height in package.tiles():
        yield (
            f'<rect class="{kinds.get(name, "file")}" x="{left:.1f}" y="{top:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}" rx="1.5">'
            f"<title>{escape(name)}: {package.files[name]} lines</title></rect>"
        )


def draw_circles(structure: Structure) -> Iterator[str]:
    """Red arrows between the files of each import circle."""
    centers = {
        name: (left + width / 2, top + height / 2)
        for package in structure.packages.values()
        for name, left, top, width, height in package.tiles()
    }
    for circle in structure.circles:
        for name in sorted(circle):
            for target in sorted(structure.targets[name] & circle):
                (x1, y1), (x2, y2) = centers[name], centers[target]
                bend_x, bend_y = (x1 + x2) / 2 + (y2 - y1) * 0.35, (y1 + y2) / 2 - (x2 - x1) * 0.35
                yield (
                    f'<path class="back" marker-end="url(#red)" '
                    f'd="M{x1:.1f},{y1:.1f} Q{bend_x:.1f},{bend_y:.1f} {x2:.1f},{y2:.1f}"/>'
                )


def draw_legend(height: float) -> Iterator[str]:
    """What colors and arrows mean, in two lines."""
    tiles = (
        ("file", "a file, its area by lines"),
        ("file late", "imports our own modules inside functions"),
        ("file circle", "is in an import circle"),
    )
    arrows = (
        ("import", "blue", "package imports another; wider: more import statements"),
        ("implied", "grey", "the same, where another package on the way imports it, too"),
    )
    x, y = float(MARGIN), height - 52
    for kind, text in tiles:
        yield f'<rect class="{kind}" x="{x:.1f}" y="{y - 10:.1f}" width="13" height="13" rx="1.5"/>'
        yield f'<text class="note" x="{x + 20:.1f}" y="{y + 1:.1f}">{text}</text>'
        x += 50 + 6.6 * len(text)
    x, y = float(MARGIN), height - 26
    for kind, head, text in arrows:
        yield f'<path class="{kind}" stroke-width="2" marker-end="url(#{head})" d="M{x:.1f},{y - 4:.1f} h26"/>'
        yield f'<text class="note" x="{x + 34:.1f}" y="{y + 1:.1f}">{text}</text>'
        x += 64 + 6.6 * len(text)


def draw(structure: Structure) -> str:
    """Draw a structure.

    Args:
        structure: Packages and imports; the positions of the packages are set.

    Returns:
        The drawing as SVG.
    """
    packages = structure.packages
    set_levels(packages, structure.edges)
    width, height = set_positions(packages)
    kinds = {name: "file late" for name in structure.late}
    kinds |= {name: "file circle" for circle in structure.circles for name in circle}
    files = sum(len(package.files) for package in packages.values())
    lines = sum(package.lines for package in packages.values())
    title = f"{files} files in {len(packages)} packages, {lines:,} lines"
    circles = len(structure.circles)
    note = (
        f"{structure.late_imports} imports of our own modules inside functions, "
        f"{circles} import circle{'s' * (circles != 1)}"
    )
    heads = (("blue", "#53698c"), ("grey", "#b9c5d8"), ("red", "#b51f1f"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        "<defs>",
        *(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0.8 L7.5,4 L0,7.2 z" fill="{color}"/></marker>'
            for name, color in heads
        ),
        "</defs>",
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="10"/>',
        f'<text class="title" x="{MARGIN}" y="40">{title}</text>',
        f'<text class="note" x="{MARGIN}" y="62">{note}</text>',
        *draw_arrows(packages, structure.edges),
        *(line for package in packages.values() for line in draw_package(package, kinds)),
        *draw_circles(structure),
        *draw_legend(height),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the drawing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, default=HERE, help="the checkout (default: the one of this script)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the SVG file")
    options = parser.parse_args()
    options.output.write_text(draw(Structure.read(Checkout.read(options.repo.resolve()))), encoding="utf-8")


if __name__ == "__main__":
    main()
