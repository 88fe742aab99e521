"""Operands and files of make_alu_vectors.py."""
import os
import random

BYTES = {"b": 1, "h": 2, "w": 4, "d": 8, "p": 1}
random.seed(20251122)


class Book:
    def __init__(self):
        self.data, self.rows, self.spellings = bytearray(), 0, 0

    def add(self, spelling, widths, rows, pair=False, carry=False):
        self.spellings += 1
        self.rows += len(rows)
        for text in (spelling, widths):
            self.data += bytes([len(text)]) + text.encode()
        self.data += bytes([pair + 2 * carry]) + len(rows).to_bytes(2, "little")
        for row in rows:
            sources = len(widths) - 1
            order = [BYTES[w] for w in widths[1:]] + ([1] if carry else []) + [BYTES[widths[0]]]
            order += ([1] if pair else []) + ([1] if carry else [])
            assert len(order) == len(row), (spelling, row)
            for size, value in zip(order, row):
                self.data += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def write(book, folder, name):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(book.data)
    print(f"{name}: {book.spellings} spellings, {book.rows} rows, {len(book.data)} bytes")


# Operands.
def float_pool(f):
    one = f.bias << f.mantissa
    m = f.mantissa
    pool = [0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, one, one + 1, one - 1,
            one + (1 << m - 1), one + (1 << m), one + (3 << m - 1), one - (1 << m),
            f.infinity - 1, f.infinity, f.infinity + 1, f.nan & ~f.sign,
            (f.bias + m << m), (f.bias + m << m) + 1, (f.bias + m + 1 << m) - 1]
    return pool + [v ^ f.sign for v in pool]


def some_float(f):
    kind = random.random()
    if kind < 0.35:
        return random.choice(float_pool(f))
    bits = random.getrandbits(f.bits)
    if kind < 0.8:  # near 1: sums and products meet
        e = f.bias + random.randint(-4, 4)
        return bits & ~f.infinity | e << f.mantissa
    return bits


def int_pool(n):
    top = 1 << n - 1
    return [0, 1, 2, 3, 5, 7, top, top - 1, top + 1, 2 * top - 1, 2 * top - 2, 0xFF,
            0x8000, 0x7FFF, 0x55555555 & 2 * top - 1, 10, 100, 1000]


def some_int(n):
    kind = random.random()
    if kind < 0.5:
        return random.choice(int_pool(n)) & (1 << n) - 1
    return random.getrandbits(n) >> (random.randrange(n) if kind < 0.7 else 0)


def signed(v, n):
    v &= (1 << n) - 1
    return v - (1 << n) if v >> n - 1 else v


LETTER = {8: "b", 16: "h", 32: "w", 64: "d"}


def int_rows(count, widths, result):
    rows = []
    for _ in range(count):
        a = [some_int(n) for n in widths]
        rows.append((*a, result(*a)))
    return rows


def op(book, spelling, out, widths, result, count=48):
    letters = LETTER[out] + "".join(LETTER[n] for n in widths)
    book.add(spelling, letters, int_rows(count, widths, result))
