"""HTML reports: one self-contained page for a run, and one for files, and one for aligned documents."""

from paraloom.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "write_aligned_documents": "paraloom.report.documents_page",
        "write_files_report": "paraloom.report.files_page",
        "write_report": "paraloom.report.page",
    },
)
