"""A local web page to explore pairs: search, filter, thresholds, single rows, judging, comparing, runs as they go."""

from paraloom.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "launcher": "paraloom.explore.session",
        "opened": "paraloom.explore.session",
    },
)
