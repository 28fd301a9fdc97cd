"""Documents: read, indexed in a process of their own, ranked, kept for their citations."""

from app.library.indexer import Indexer
from app.library.library import DocumentLibrary

__all__ = ["DocumentLibrary", "Indexer"]
