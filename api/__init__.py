"""The HTTP front door: shapes, keys, limits and routes.

It records questions and reads answers; models and backends are the workers' and never imported.
"""
