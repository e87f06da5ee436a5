"""Side-by-side measurements. Each prints the ratio to its reference, taken in the same run.

``make bench`` runs them all; they assert nothing.
"""
