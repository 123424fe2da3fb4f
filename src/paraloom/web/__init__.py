"""HTML pages: reports of runs and files, aligned documents, sheets to label, and what `paraloom explore` serves."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.web.documents_data import DocumentsReport as DocumentsReport
    from paraloom.web.documents_page import write_aligned_documents as write_aligned_documents
    from paraloom.web.files_page import write_files_report as write_files_report
    from paraloom.web.rating_page import write_rating_page as write_rating_page
    from paraloom.web.report import write_report as write_report
    from paraloom.web.session import launcher as launcher
    from paraloom.web.session import opened as opened

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "DocumentsReport": "paraloom.web.documents_data",
        "launcher": "paraloom.web.session",
        "opened": "paraloom.web.session",
        "write_aligned_documents": "paraloom.web.documents_page",
        "write_files_report": "paraloom.web.files_page",
        "write_rating_page": "paraloom.web.rating_page",
        "write_report": "paraloom.web.report",
    },
)
