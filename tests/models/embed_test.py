#!/usr/bin/env python3
"""The server of embeddings, on a tiny random model that is made here: its words and vectors against plain Python.

usage: embed_test.py [--install]      (TAP; with --install in the environment of embed.py, else with Debian's python3-numpy)
"""
import http.server, json, math, os, random, struct, sys, tempfile, threading, urllib.error, urllib.request

sys.dont_write_bytecode = True
import embed  # noqa: E402

if "--install" in sys.argv:
    embed.enter_environment()
try:
    import numpy  # noqa: F401  the server needs it, this test does not
except ImportError:  # of another Python than Debian's, for which setup --tests installs it
    if sys.executable == "/usr/bin/python3":
        sys.exit("numpy is missing: ./setup --tests --no-build installs it")
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "race", "##s", "un", "##race", "##able", "naive", ",", "$", "+", "中", "a"]
SIZE, HEADS, LAYERS, INNER = 8, 2, 2, 12
# What BERT's uncased rules make of a text, by hand.
WORDS = [("races", [4, 5]), ("unraceable", [6, 7, 8]), ("Naïve, RACE", [9, 10, 4]), ("$a+a", [11, 14, 12, 14]),
         ("a中a", [14, 13, 14]), ("a\u200ba\u00a0a\x00", [1, 14]), ("racer", [1]), ("a" * 101, [1]), ("", []),
         ("a " * 300, [14] * 254)]
TEXTS = ["races", "a race, naïve", "un un un", "a " * 300]


def shapes():
    yield "embeddings.word_embeddings.weight", (len(PIECES), SIZE)
    yield "embeddings.position_embeddings.weight", (512, SIZE)
    yield "embeddings.token_type_embeddings.weight", (2, SIZE)
    norms = ["embeddings.LayerNorm"]
    for i in range(LAYERS):
        at = "encoder.layer.%d." % i
        for name, rows, columns in [("attention.self.query", SIZE, SIZE), ("attention.self.key", SIZE, SIZE),
                                    ("attention.self.value", SIZE, SIZE), ("attention.output.dense", SIZE, SIZE),
                                    ("intermediate.dense", INNER, SIZE), ("output.dense", SIZE, INNER)]:
            yield at + name + ".weight", (rows, columns)
            yield at + name + ".bias", (rows,)
        norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
    for name in norms:
        yield name + ".weight", (SIZE,)
        yield name + ".bias", (SIZE,)


def make_model(folder):
    """The files, and the same weights as nested lists."""
    draw, head, data, weights = random.Random(20261125), {}, b"", {}
    for name, shape in shapes():
        count = math.prod(shape)
        packed = struct.pack("<%df" % count, *(draw.gauss(0, 0.7) for _ in range(count)))
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
        flat = struct.unpack("<%df" % count, packed)
        weights[name] = flat if len(shape) == 1 else [flat[i:i + shape[1]] for i in range(0, count, shape[1])]
    text = json.dumps(head).encode()
    with open(folder + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    with open(folder + "/config.json", "w") as f:
        json.dump({"num_hidden_layers": LAYERS, "num_attention_heads": HEADS}, f)
    with open(folder + "/vocab.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(PIECES) + "\n")
    return weights


def vector(w, ids):
    """The published formulas, one number after another, in double precision."""
    def dense(row, at):
        return [b + sum(x * y for x, y in zip(row, line)) for line, b in zip(w[at + ".weight"], w[at + ".bias"])]

    def norm(row, at):
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
        return [(x - mean) / spread * g + b for x, g, b in zip(row, w[at + ".weight"], w[at + ".bias"])]

    def add(a, b):
        return [x + y for x, y in zip(a, b)]

    def attention(rows, at):
        q, k, v = ([dense(row, at + "self." + n) for row in rows] for n in ("query", "key", "value"))
        part, result = SIZE // HEADS, [[] for _ in rows]
        for first in range(0, SIZE, part):
            span = range(first, first + part)
            for i in range(len(rows)):
                e = [math.exp(sum(q[i][c] * k[j][c] for c in span) / math.sqrt(part)) for j in range(len(rows))]
                result[i] += [sum(e[j] * v[j][c] for j in range(len(rows))) / sum(e) for c in span]
        return [dense(row, at + "output.dense") for row in result]

    rows = [norm(add(add(w["embeddings.word_embeddings.weight"][id], w["embeddings.position_embeddings.weight"][i]),
                     w["embeddings.token_type_embeddings.weight"][0]), "embeddings.LayerNorm") for i, id in enumerate(ids)]
    for layer in range(LAYERS):
        at = "encoder.layer.%d." % layer
        rows = [norm(add(row, more), at + "attention.output.LayerNorm")
                for row, more in zip(rows, attention(rows, at + "attention."))]
        for i, row in enumerate(rows):
            inner = [x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in dense(row, at + "intermediate.dense")]
            rows[i] = norm(add(row, dense(inner, at + "output.dense")), at + "output.LayerNorm")
    mean = [sum(column) / len(rows) for column in zip(*rows)]
    return [x / math.sqrt(sum(y * y for y in mean)) for x in mean]


def post(url, body):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def serve(encoder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), embed.Handler)
    server.encoder = encoder
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d/v1/embeddings" % server.server_port


def farthest(got, wanted):
    return max(abs(x - y) for x, y in zip(got, wanted)) if len(got) == len(wanted) else math.inf


def checks(folder):
    weights = make_model(folder)
    encoder = embed.Encoder(folder)
    for text, ids in WORDS:
        yield encoder.tokens(text) == [2, *ids, 3], "the pieces of %.20r: %s" % (text, encoder.tokens(text)[:8])
    for text in TEXTS:
        off = farthest(encoder(text), vector(weights, encoder.tokens(text)))
        yield off < 1e-6, "the vector of %.20r is right to %.1e" % (text, off)
    url = serve(encoder)
    status, answer = post(url, json.dumps({"input": TEXTS[:2]}).encode())
    yield status == 200 and [d["index"] for d in answer["data"]] == [0, 1], "two texts get two vectors in their order"
    yield farthest(answer["data"][1]["embedding"], encoder(TEXTS[1])) == 0, "the second is the second text's"
    yield post(url, b'{"input": "races"}')[1]["data"][0]["embedding"] == encoder("races"), "one text alone gets one"
    for body in (b"{}", b"[", b'{"input": 5}', b'{"input": [5]}', b"[1]"):
        yield post(url, body)[0] == 400, "%s is refused" % body.decode()
    yield post(url + "s", b"{}")[0] == 404, "another path is refused"


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for good, what in checks(folder):
            results.append(good)
            print("%s %d - %s" % ("ok" if good else "not ok", len(results), what), flush=True)
    print("1..%d" % len(results))
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
