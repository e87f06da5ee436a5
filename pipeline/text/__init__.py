"""Pure text work: what counts as a term, a sentence, a language. Nothing here knows of storage,
models or settings, and what holds for a chunk holds for a query in the same words."""
