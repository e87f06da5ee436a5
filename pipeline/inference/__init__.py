"""The answering stages, pure: embed_query, retrieve, rerank, prompt, generate, verify.

One file per stage, in the order in which they run.
"""
