"""HTML pages, each self-contained: of a run, of files, of aligned documents, and of pairs for people to label."""

from paraloom.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "write_aligned_documents": "paraloom.report.documents_page",
        "write_files_report": "paraloom.report.files_page",
        "write_rating_page": "paraloom.report.rating_page",
        "write_report": "paraloom.report.page",
    },
)
