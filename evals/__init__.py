"""Evaluation: question sets, the runner behind ``lastro eval``, and the fit of ``similarity``.

Nothing in the pipeline imports from here.
"""
