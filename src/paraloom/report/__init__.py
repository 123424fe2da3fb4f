"""One self-contained HTML page a run."""

from paraloom.report.page import write_report

__all__ = ["write_report"]
