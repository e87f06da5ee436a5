"""Rerankers: one file per provider, chosen by ``factory.build``.

Each gives a probability per candidate; what they were fitted on stands beside the code.
"""
