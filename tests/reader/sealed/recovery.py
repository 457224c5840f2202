"""Recovery data beside a file: checks the file, and repairs it with the code's definition, by Lagrange and Gauss.

It is slow: the work grows with the cube of the number of missing blocks in a column.
"""

from blake3 import blake3

from .refusal import Refused, require

SIGNATURE = b"\x89DPR\r\n\x1a\n\x01\0\0\0"
MARK = 16
BASIS = [
    0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012,
    0x6C98, 0x10D8, 0x6A72, 0xB900, 0xFDB8, 0xFB34, 0xFF38, 0x991E,
]  # fmt: skip
FACTOR = 2_654_435_761


class Field:
    """Symbols of 16 bits. Tables of logarithms make products fast."""

    def __init__(self):
        element = [0]
        for value in BASIS:
            element += [known ^ value for known in element]
        symbol = {value: number for number, value in enumerate(element)}
        power, self.power, self.logarithm = 1, [], [0] * 65536
        # The element z generates all elements but zero.
        for exponent in range(65535):
            self.power.append(symbol[power])
            self.logarithm[symbol[power]] = exponent
            power = power << 1 ^ (0x1002D if power >> 15 else 0)
        self.power += self.power

    def times(self, a: int, b: int) -> int:
        return self.power[self.logarithm[a] + self.logarithm[b]] if a and b else 0

    def divide(self, a: int, b: int) -> int:
        return self.power[self.logarithm[a] + 65535 - self.logarithm[b]] if a else 0


class Recovery:
    """A sidecar that was read into memory."""

    def __init__(self, sidecar: bytes):
        self.sidecar = sidecar
        ends = (len(sidecar) - (512 << shift) for shift in range(8))
        places = [0, *(end for end in ends if end >= 0)]
        header = next(filter(None, map(self.header_at, places)), None)
        at = -1
        while header is None:
            at = sidecar.find(SIGNATURE, at + 1)
            require(at >= 0, "no valid header")
            header = self.header_at(at)
        self.block, self.length, self.columns, self.rows, self.recovery, self.hash = header
        self.blocks = -(-self.length // self.block)
        self.places = 1 << max(self.recovery - 1, 0).bit_length()
        table = (self.rows + self.recovery) * self.columns * MARK
        self.table = -(-table // self.block) * self.block
        self.whole_length = 3 * self.block + 2 * self.table + self.recovery * self.columns * self.block
        self.shift = len(sidecar) - self.whole_length

    def header_at(self, at: int):
        header = self.sidecar[at : at + 96]
        if len(header) < 96 or header[:12] != SIGNATURE or blake3(header[:64]).digest() != header[64:]:
            return None
        number = lambda begin, end: int.from_bytes(header[begin:end], "big")
        block, length, columns = number(12, 16), number(16, 24), number(24, 28)
        rows, recovery = number(28, 30), number(30, 32)
        if block not in [512 << shift for shift in range(8)] or length > block << 28:
            return None
        blocks = -(-length // block)
        if blocks:
            fits = (rows - 1) * columns < blocks <= rows * columns and 1 <= recovery <= rows
            fits = fits and columns <= blocks and rows + (1 << (recovery - 1).bit_length()) <= 1024
        else:
            fits = columns == rows == recovery == 0
        return (block, length, columns, rows, recovery, header[32:64]) if fits else None

    def mark_of(self, block: bytes) -> bytes:
        weak = 0
        for byte in block[:64]:
            weak = (weak * FACTOR + byte) & 0xFFFFFFFF
        return weak.to_bytes(4, "big") + blake3(block).digest()[:12]

    def is_whole(self, place: int, block: bytes) -> bool:
        """Whether a block matches one of its marks. The second table has its place from the end."""
        second = len(self.sidecar) - self.block - self.table
        marks = (self.sidecar[max(table, 0) :][place * MARK :][:MARK] for table in (self.block, second))
        return self.mark_of(block) in marks

    def block_of(self, file: bytes, number: int) -> bytes:
        begin = number * self.block
        return file[begin : min(begin + self.block, self.length)].ljust(self.block, b"\0")

    def recovery_block(self, row: int, column: int) -> bytes | None:
        place = self.block + self.table + (row * self.columns + column) * self.block
        if row >= (self.recovery + 1) // 2:
            place += self.block
        for begin in (place, place + self.shift):
            block = self.sidecar[max(begin, 0) :][: self.block]
            if len(block) == self.block and self.is_whole((self.rows + row) * self.columns + column, block):
                return block
        return None

    def hash_of(self, file: bytes) -> bytes:
        whole = blake3(self.length.to_bytes(8, "big") + self.block.to_bytes(4, "big") + self.columns.to_bytes(4, "big"))
        for row in range(self.rows):
            numbers = range(row * self.columns, min((row + 1) * self.columns, self.blocks))
            whole.update(blake3(b"".join(blake3(self.block_of(file, number)).digest() for number in numbers)).digest())
        return whole.digest()

    def missing(self, file: bytes) -> list[int]:
        """The blocks that are not at their place. This reader does not look for them at other places."""
        return [number for number in range(self.blocks) if not self.is_whole(number, self.block_of(file, number))]

    def repair(self, file: bytes) -> bytes:
        """Returns the original file."""
        missing = self.missing(file)
        blocks = [self.block_of(file, number) for number in range(self.blocks)]
        field = Field() if missing else None
        for column in {number % self.columns for number in missing}:
            lost = [number for number in missing if number % self.columns == column]
            found = ((row, self.recovery_block(row, column)) for row in range(self.recovery))
            found = [(row, block) for row, block in found if block is not None][: len(lost)]
            require(len(found) == len(lost), "too much is damaged")
            self.restore(field, blocks, column, lost, found)
        result = b"".join(blocks)[: self.length]
        if self.hash_of(result) != self.hash:
            raise Refused("the result is not the original file")
        return result

    def factor(self, field: Field, row: int, data_row: int) -> int:
        """The share of a data row in a recovery row, by Lagrange's formula."""
        chunk = (data_row // self.places + 1) * self.places
        own = self.places + data_row
        factor = 1
        for other in range(chunk, chunk + self.places):
            if other != own:
                factor = field.times(factor, field.divide(row ^ other, own ^ other))
        return factor

    def restore(self, field: Field, blocks: list[bytes], column: int, lost: list[int], found: list):
        """Solves the equations of one column: what remains of each recovery row is a sum of the lost blocks."""
        equations = []
        for row, block in found:
            rest = symbols(block)
            for number in range(column, self.blocks, self.columns):
                if number not in lost:
                    add(field, rest, self.factor(field, row, number // self.columns), symbols(blocks[number]))
            equations.append(([self.factor(field, row, number // self.columns) for number in lost], rest))
        for at in range(len(lost)):
            pivot = next(index for index in range(at, len(lost)) if equations[index][0][at])
            equations[at], equations[pivot] = equations[pivot], equations[at]
            factors, rest = equations[at]
            inverse = field.divide(1, factors[at])
            factors[:] = [field.times(factor, inverse) for factor in factors]
            rest[:] = [field.times(value, inverse) for value in rest]
            for other, (others, values) in enumerate(equations):
                if other != at and others[at]:
                    share = others[at]
                    add(field, others, share, factors)
                    add(field, values, share, rest)
        for number, (_, values) in zip(lost, equations):
            blocks[number] = joined(values)


def add(field: Field, to: list[int], factor: int, values: list[int]):
    """Adds a multiple of some values. In this field, to add is to combine by exclusive or."""
    power, logarithm, by = field.power, field.logarithm, field.logarithm[factor]
    for at, value in enumerate(values if factor else ()):
        if value:
            to[at] ^= power[logarithm[value] + by]


def symbols(block: bytes) -> list[int]:
    pieces = (block[begin : begin + 64] for begin in range(0, len(block), 64))
    return [low | high << 8 for piece in pieces for low, high in zip(piece[:32], piece[32:])]


def joined(values: list[int]) -> bytes:
    pieces = (values[begin : begin + 32] for begin in range(0, len(values), 32))
    return b"".join(bytes(v & 255 for v in piece) + bytes(v >> 8 for v in piece) for piece in pieces)
