"""HTML reports: one self-contained page for a run, and one for aligned documents."""

from paraloom.report.documents_page import write_aligned_documents
from paraloom.report.page import write_report

__all__ = ["write_aligned_documents", "write_report"]
