"""The state of a page, which is its address: corpus, condition, search, order, page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import urlencode

from paraloom.io.database import open_database, sql
from paraloom.web.matching import RowFilter
from paraloom.web.parameters import whole_number

Query = Mapping[str, Sequence[str]]  # The parameters of an address, as `urllib.parse.parse_qs` returns them


@dataclass(frozen=True)
class ViewState:
    """The request in an address."""

    corpus: str = ""
    where: str = ""
    search: str = ""
    sort: str = ""
    page: int = 1
    columns: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_query(cls, query: Query) -> ViewState:
        """Read the parameters of an address; unknown ones are left in `extra`."""
        single = {key: values[-1] for key, values in query.items() if values}
        known = {key: single.pop(key, "").strip() for key in ("corpus", "where", "search", "sort")}
        page = whole_number(single.pop("page", ""), 1, 10**9)
        columns = tuple(dict.fromkeys(value for value in query.get("column", ()) if value))
        single.pop("column", None)
        single.pop("fragment", None)
        return cls(**known, page=page or 1, columns=columns, extra=single)

    @property
    def filter(self) -> RowFilter:
        return RowFilter(self.where, self.search, self.sort)

    def url(self, path: str, **changes: object) -> str:
        own = {key: value for key, value in changes.items() if key in _FIELDS}
        if own and "page" not in own:
            own["page"] = 1
        state = replace(self, **own)  # type: ignore[arg-type]
        pairs = [(key, str(value)) for key in _FIELDS[:4] if (value := getattr(state, key))]
        if state.page > 1:
            pairs.append(("page", str(state.page)))
        pairs += [("column", name) for name in state.columns]
        pairs += [(key, str(value)) for key, value in changes.items() if key not in _FIELDS and value is not None]
        return path + ("?" + urlencode(pairs) if pairs else "")


_FIELDS = ("corpus", "where", "search", "sort", "page", "columns")


def narrowed(where: str, clause: str) -> str:
    """A condition and one more clause; a condition that has 'or' at its top level goes into parentheses."""
    if not where.strip():
        return clause
    simple = not any(word in where.lower() for word in (" or ", "case", "--", "\n", "not "))
    return f"{where} and {clause}" if simple else f"({where}) and {clause}"


def identifier(name: str) -> str:
    plain = name.isascii() and name.isidentifier() and name.lower() not in _reserved()
    return name if plain else sql("{}", name)


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """Words of SQL that cannot be the name of a column without quotes."""
    keywords = sql("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'")
    with open_database() as database:
        return frozenset(word for (word,) in database.execute(keywords).fetchall())
