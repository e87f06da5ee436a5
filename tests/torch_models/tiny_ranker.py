"""A BERT of a few thousand weights that learns in seconds which passage belongs to a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
STEPS = 200
LIMIT = 64


def save(
    folder: Path, questions: Sequence[str], passages: Sequence[str], *, outputs: int, trained: bool
) -> BertForSequenceClassification:
    """Write model and tokenizer to ``folder``; question i belongs to passage i alone."""
    torch.manual_seed(5)
    words = sorted(set(re.findall(r"\w+|[^\w\s]", " ".join([*questions, *passages]).lower())))
    folder.mkdir()
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    tokenizer = BertTokenizerFast(vocab=vocabulary, model_max_length=LIMIT)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=LIMIT,
            num_labels=outputs,
        )
    )
    if trained:
        _train(model, tokenizer, questions, passages)
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def _train(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizerFast,
    questions: Sequence[str],
    passages: Sequence[str],
) -> None:
    pairs = [(question, passage) for question in questions for passage in passages]
    inputs = tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
    wanted = torch.eye(len(questions)).reshape(-1)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        logits = model(**inputs).logits[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
