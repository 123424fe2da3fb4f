"""Write the gallery of the docs: the page of `paraloom demo` with its examples filled in by the bundled models.

python benchmarks/gallery.py
python benchmarks/gallery.py --check
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paraloom.web import Demo, gallery

OUTPUT = Path(__file__).resolve().parents[1] / "docs/_static/demo.html"


def main() -> int:
    """Write the page, or say whether it is the one that the models give."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    page = gallery(Demo())
    if parser.parse_args().check:
        return int(OUTPUT.read_text(encoding="utf-8") != page)
    OUTPUT.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
