"""Disk space of `pip install paraloom`: a table of the packages that it needs, the largest first.

    python benchmarks/install_size.py                 # the base install
    python benchmarks/install_size.py train align     # the base install with two extras

The packages are those of the environment that runs the script, and all of them must be installed there.  A size is
that of the files which the package's RECORD lists, without compiled byte code.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

try:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
except ImportError:  # Not part of the base install; every pip has a copy.
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import canonicalize_name


def requirements(package: Distribution, extras: frozenset[str]) -> list[Requirement]:
    """The requirements of `package` with `extras` that apply to this interpreter and platform."""
    parsed = [Requirement(line) for line in package.requires or []]
    return [
        requirement
        for requirement in parsed
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in ("", *extras))
    ]


def closure(name: str, extras: frozenset[str]) -> dict[str, tuple[Distribution, set[str]]]:
    """All packages that `name` needs, itself among them: canonical name → (distribution, names of its dependents)."""
    packages: dict[str, tuple[Distribution, set[str]]] = {}
    queue: list[tuple[str, frozenset[str], str]] = [(canonicalize_name(name), extras, "")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while queue:
        name, wanted, dependent = queue.pop()
        try:
            package = packages[name][0] if name in packages else distribution(name)
        except PackageNotFoundError:
            print(f"{name}, which {dependent} needs, is not installed", file=sys.stderr)
            continue
        packages.setdefault(name, (package, set()))[1].add(dependent)
        if (name, wanted) not in seen:
            seen.add((name, wanted))
            queue += [
                (canonicalize_name(requirement.name), frozenset(requirement.extras), name)
                for requirement in requirements(package, wanted)
            ]
    return packages


def size(package: Distribution) -> int:
    """Bytes of the files of a package; those of an editable install are not in its RECORD."""
    files = {Path(str(package.locate_file(file))) for file in package.files or [] if file.suffix != ".pyc"}
    return sum(path.stat().st_size for path in files if path.is_file())


def main() -> None:
    """Print the table, the largest package first."""
    packages = closure("paraloom", frozenset(sys.argv[1:]))
    rows = sorted(((size(package), name, by) for name, (package, by) in packages.items()), reverse=True)
    total = sum(row[0] for row in rows)
    print(f"{'package':<24} {'version':<12} {'MB':>7}  needed by")
    for count, name, by in rows:
        version = packages[name][0].version
        print(f"{name:<24} {version:<12} {count / 1e6:>7.1f}  {', '.join(sorted(by - {''}))}")
    print(f"{f'{len(rows)} packages':<24} {'':<12} {total / 1e6:>7.1f}")


if __name__ == "__main__":
    main()
