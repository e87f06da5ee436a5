"""The ingest stages, pure and one file each, in order: sync, parse, chunk, embed, publish.

None of them knows of the database or the queue; ``worker/ingestion.py`` runs them.
"""
