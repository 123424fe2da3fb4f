"""A local web page to explore pairs: search, filter, thresholds, single rows, judging, comparing, runs as they go."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.explore.session import launcher as launcher
    from paraloom.explore.session import opened as opened


__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "launcher": "paraloom.explore.session",
        "opened": "paraloom.explore.session",
    },
)
