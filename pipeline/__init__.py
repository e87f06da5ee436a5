"""Lastro's pipeline: from a folder of skills and documents to a grounded answer.

``ingestion`` and ``inference`` are pure stages; ``worker`` runs them, ``db`` keeps the record.
"""
