"""HTML pages: reports of runs and files, aligned documents, sheets to label, and what `paraloom explore` serves."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.web.demo import Demo as Demo
    from paraloom.web.demo import demo_server as demo_server
    from paraloom.web.demo import gallery as gallery
    from paraloom.web.documents_data import DocumentsReport as DocumentsReport
    from paraloom.web.documents_page import write_aligned_documents as write_aligned_documents
    from paraloom.web.explorer import open_browser as open_browser
    from paraloom.web.explorer import opened as opened
    from paraloom.web.files_page import write_files_report as write_files_report
    from paraloom.web.library import Library as Library
    from paraloom.web.rating_page import write_rating_page as write_rating_page
    from paraloom.web.report import write_report as write_report
    from paraloom.web.server import ExploreServer as ExploreServer

__getattr__, __dir__, __all__ = lazy_exports(__name__)
