"""HTML pages, each self-contained: of a run, of files, of aligned documents, and of pairs for people to label."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.report.documents_page import write_aligned_documents as write_aligned_documents
    from paraloom.report.files_page import write_files_report as write_files_report
    from paraloom.report.page import write_report as write_report
    from paraloom.report.rating_page import write_rating_page as write_rating_page


__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "write_aligned_documents": "paraloom.report.documents_page",
        "write_files_report": "paraloom.report.files_page",
        "write_rating_page": "paraloom.report.rating_page",
        "write_report": "paraloom.report.page",
    },
)
