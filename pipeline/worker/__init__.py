"""Celery's side: the application, thin tasks, leases, and the sweeps that lose nothing.

Each task loads a row, calls one pure function, saves, and hands on.
"""
