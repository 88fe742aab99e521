#!/usr/bin/env python3
"""Makes word_vectors.bin, the table of skills/catalog/word_vectors.h.

    make-word-vectors.py MODEL WORDS TEXTS    (needs numpy, scipy, tokenizers)

MODEL: a folder with model.safetensors and vocab.txt of all-MiniLM-L6-v2 (Apache-2.0, the
       Sentence-Transformers project; packages that carry it are on the Python package index).
WORDS: lines "word<TAB>count", commonest first: the words that the table may hold.
TEXTS: a text a line, short ones: what the words mean is learned from how they stand there.

The table in the repository was made on 2026-11-22 from 60,000 words and 76,000 texts, the
commonest and others drawn by chance: WordNet 3.0 synsets with their glosses (Debian's wordnet-base, WordNet licence),
the one-line descriptions of Debian 12's packages, and summaries of packages for Python and
JavaScript. None of these texts is in the table, only 96 numbers per word. The network ran
with its weights rounded to 8 bits there (cosine 0.99 to this script's): a second run gives
a table that is alike, not the same to the bit. No skill and no task of any measurement was
among the texts.

How: the network gives every word and every text a direction. Then vectors of words are
sought whose weighted mean over a text points where the network points, by ridge regression
that starts at what the network says about the word alone; both are centred and turned into
the SIZE directions in which texts differ most. Words are counted by stem as the index does.
"""
import json
import pathlib
import sqlite3
import struct
import sys

import numpy as np
import scipy.sparse as sparse
from tokenizers import BertWordPieceTokenizer

SIZE, KEPT, PULL, PUSH, ROUNDS = 96, 32000, 3.0, 30.0, 25


class Network:
    """BERT with 6 layers and 12 heads, mean of the last layer (Devlin et al., 2018)."""

    def __init__(self, folder):
        raw = (folder / "model.safetensors").read_bytes()
        (n,) = struct.unpack("<Q", raw[:8])
        self.w = {}
        for key, v in json.loads(raw[8 : 8 + n]).items():
            if v.get("dtype") == "F32":
                self.w[key] = np.frombuffer(
                    raw, np.float32, int(np.prod(v["shape"])), 8 + n + v["data_offsets"][0]
                ).reshape(v["shape"])
        self.tokens = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)

    def norm(self, x, at):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.w[at + ".weight"] + self.w[at + ".bias"]

    def linear(self, x, at):
        return x @ self.w[at + ".weight"].T + self.w[at + ".bias"]

    def forward(self, ids):
        batch, length = ids.shape
        e = "embeddings."
        x = self.w[e + "word_embeddings.weight"][ids]
        x = x + self.w[e + "position_embeddings.weight"][:length]
        x = self.norm(x + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for i in range(6):
            at = f"encoder.layer.{i}."
            q, k, v = (
                self.linear(x, f"{at}attention.self.{n}").reshape(batch, length, 12, 32).transpose(0, 2, 1, 3)
                for n in ("query", "key", "value")
            )
            a = q @ k.transpose(0, 1, 3, 2) / np.float32(32**0.5)
            a = np.exp(a - a.max(-1, keepdims=True))
            a = (a / a.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.norm(x + self.linear(a, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            h = self.linear(x, at + "intermediate.dense")
            h = h * 0.5 * (1 + np.tanh(0.7978845608 * (h + 0.044715 * h**3)))
            x = self.norm(x + self.linear(h.astype(np.float32), at + "output.dense"), at + "output.LayerNorm")
        return x.mean(1)

    def directions(self, texts, longest=64):
        ids = [t.ids if len(t.ids) <= longest else t.ids[: longest - 1] + t.ids[-1:] for t in self.tokens.encode_batch(texts)]
        out = np.zeros((len(ids), 384), np.float32)
        for length in sorted({len(t) for t in ids}):
            places = [i for i, t in enumerate(ids) if len(t) == length]
            step = max(1, 1600 // length)
            for at in range(0, len(places), step):
                some = places[at : at + step]
                out[some] = self.forward(np.array([ids[i] for i in some]))
        return out / np.linalg.norm(out, axis=1, keepdims=True)


class Stemmer:
    """SQLite's, as the index of skills uses it."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61 remove_diacritics 2')")
        self.db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        self.known = {}

    def learn(self, words):
        new = [w for w in dict.fromkeys(words) if w not in self.known]
        self.db.execute("DELETE FROM t")
        self.db.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(new, 1))
        for term, row in self.db.execute("SELECT term, doc FROM v WHERE offset = 0"):
            self.known[new[row - 1]] = term


def words_of(text):
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def gather(words, counts, directions, stems):
    """Per stem the mean direction of its words, by their counts; commonest first."""
    sums, weights = {}, {}
    for word, count, direction in zip(words, counts, directions):
        stem = stems.get(word)
        if stem:
            sums[stem] = sums.get(stem, 0) + count * direction
            weights[stem] = weights.get(stem, 0) + count
    order = sorted(sums, key=lambda s: -weights[s])
    return order, np.array([sums[s] / weights[s] for s in order], np.float32)


def fit(x, y, start):
    """Vectors z with x z near y and z near start: conjugate gradients, all columns at once."""
    apply = lambda m: PUSH * (x.T @ (x @ m)) + PULL * m
    z = np.zeros_like(start)
    rest = PUSH * (x.T @ (y - x @ start))
    way, old = rest.copy(), (rest * rest).sum(0)
    for _ in range(ROUNDS):
        turned = apply(way)
        step = old / np.maximum((way * turned).sum(0), 1e-12)
        z += step * way
        rest -= step * turned
        new = (rest * rest).sum(0)
        way, old = rest + new / np.maximum(old, 1e-12) * way, new
    return start + z


def hash_of(stem):
    h = 2166136261
    for byte in stem.encode():
        h = (h ^ byte) * 16777619 % 2**32
    return h


def write(path, stems, vectors, seen, texts):
    rows = {}
    for i, stem in enumerate(stems[:KEPT]):
        rows.setdefault(hash_of(stem), i)
    hashes = sorted(rows)
    at = np.array([rows[h] for h in hashes])
    vectors, lengths = vectors[at], np.linalg.norm(vectors[at], axis=1)
    says = np.clip(np.log((texts + 1) / (seen[at] + 0.5)), 0, 10.5)
    small = np.clip(np.round(vectors / np.abs(vectors).max(1, keepdims=True) * 7), -8, 7).astype(int) + 8
    byte = lambda x: np.clip(np.round(x), 0, 255).astype(np.uint8).tobytes()
    path.write_bytes(
        b"UPWV" + struct.pack("<III", 1, len(hashes), SIZE) + np.array(hashes, "<u4").tobytes()
        + byte(lengths / np.median(lengths) * 64) + byte(says * 24)
        + (small[:, 0::2] | small[:, 1::2] << 4).astype(np.uint8).tobytes()
    )


def main(model, words_file, texts_file):
    network, stemmer = Network(pathlib.Path(model)), Stemmer()
    pairs = [line.split("\t") for line in open(words_file)]
    words, counts = [p[0] for p in pairs], [float(p[1]) for p in pairs]
    texts = open(texts_file).read().splitlines()
    split = [words_of(t) for t in texts]
    stemmer.learn(words + [w for t in split for w in t])
    stems, alone = gather(words, counts, network.directions(words), stemmer.known)
    place = {s: i for i, s in enumerate(stems)}
    held = [sorted({place[stemmer.known.get(w)] for w in t if stemmer.known.get(w) in place}) for t in split]
    row = np.repeat(np.arange(len(texts)), [len(h) for h in held])
    column = np.concatenate([np.array(h, int) for h in held])
    seen = np.bincount(column, minlength=len(stems)).astype(float)
    weight = 1e-3 / (1e-3 + np.maximum(seen, 0.3) / len(texts))
    x = sparse.csr_matrix((weight[column], (row, column)), shape=(len(texts), len(stems)))
    x = sparse.diags(1 / np.maximum(np.asarray(x.sum(1)).ravel(), 1e-9)) @ x
    y = network.directions(texts)
    middle = y.mean(0)
    turn = np.linalg.svd((y - middle).T @ (y - middle))[0][:, :SIZE]
    unit = lambda m: m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-9)
    vectors = fit(x, unit((y - middle) @ turn), unit((alone - middle) @ turn))
    write(pathlib.Path(__file__).with_name("word_vectors.bin"), stems, vectors, seen, len(texts))


if __name__ == "__main__":
    main(*sys.argv[1:4])
