"""Helpers of the checkpoint tests: files of ``torch.save``, put together opcode by opcode."""

import io
import pickletools
import random
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

PROTO = b"\x80\x02"
MAGIC = PROTO + b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The number with which a file of the old format begins."""

LARGEST_STEP = max(len(opcode.code) for opcode in pickletools.opcodes)


def text(value: str) -> bytes:
    """The opcode of a text."""
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def whole(value: int) -> bytes:
    """The opcode of a whole number."""
    return b"J" + struct.pack("<i", value) if value < 2**31 else b"L%dL\n" % value


def named(name: str) -> bytes:
    """The opcode of a name such as ``torch.FloatStorage``."""
    module, _, last = name.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def several(*values: bytes) -> bytes:
    """The opcodes of a tuple."""
    return b"(" + b"".join(values) + b"t"


def call(name: str, *arguments: bytes) -> bytes:
    """The opcodes of a call."""
    return named(name) + several(*arguments) + b"R"


def sizes(values: Sequence[int]) -> bytes:
    """The opcodes of a shape."""
    return several(*map(whole, values))


def storage(key: str, elements: int, kind: str = "torch.FloatStorage") -> bytes:
    """The opcodes of a storage beside the pickle."""
    place = (text("storage"), named(kind), text(key), text("cpu"), whole(elements))
    return several(*place) + b"Q"


def tensor(shape: Sequence[int], key: str, elements: int | None = None, offset: int = 0) -> bytes:
    """The opcodes of a tensor of float32, as PyTorch writes them."""
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    return call(
        "torch._utils._rebuild_tensor_v2",
        storage(key, prod(shape) if elements is None else elements),
        whole(offset),
        sizes(shape),
        sizes(strides),
        b"\x89",
        call("collections.OrderedDict"),
    )


def dictionary(values: Mapping[str, bytes]) -> bytes:
    """The opcodes of a dictionary."""
    pairs = b"".join(text(key) + value for key, value in values.items())
    return b"}(" + pairs + b"u"


def state_dict(shapes: Mapping[str, Sequence[int]]) -> bytes:
    """The opcodes of a state dict, each tensor in a storage of its own."""
    return dictionary({n: tensor(s, str(i)) for i, (n, s) in enumerate(shapes.items())})


def zipped(body: bytes, lengths: Mapping[str, int] | None = None, name: str = "archive") -> bytes:
    """A file of ``torch.save``: the pickle with *body*, and storages of these *lengths*."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"{name}/data.pkl", PROTO + body + b".")
        for key, length in (lengths or {}).items():
            archive.writestr(f"{name}/data/{key}", bytes(length))
    return out.getvalue()


def saved(shapes: Mapping[str, Sequence[int]]) -> bytes:
    """A file of ``torch.save`` with tensors of these *shapes*."""
    return zipped(state_dict(shapes), {str(i): 4 * prod(s) for i, s in enumerate(shapes.values())})


def old_format(body: bytes, lengths: Mapping[str, int] | None = None) -> bytes:
    """The same in the format of PyTorch before 1.6."""
    keys = lengths or {}
    listed = b"](" + b"".join(map(text, keys)) + b"e"
    parts = [MAGIC, *(PROTO + p + b"." for p in (b"M\xe9\x03", b"}", body, listed))]
    data = (struct.pack("<Q", length // 4) + bytes(length) for length in keys.values())
    return b"".join([*parts, *data])


def mutated(content: bytes, chance: random.Random) -> bytes:
    """*content* with a few bytes changed, moved, put in or taken away."""
    data = bytearray(content)
    opcodes = [opcode.code.encode("latin-1") for opcode in pickletools.opcodes]
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        place, size = chance.randrange(len(data) or 1), len(data)
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[place] = chance.randrange(256)
        elif kind == 1:
            del data[place : place + chance.choice([1, 2, 50])]
        elif kind == 2:
            data[place:place] = chance.choice(opcodes)
        elif kind == 3:
            data[place:place] = named(chance.choice(["os.system", "torch.Size"])) + b")R"
        elif kind == 4:
            start = chance.randrange(size or 1)
            data[place:place] = data[start : start + chance.randrange(99)]
        elif kind == 5:
            data[place : place + 4] = struct.pack("<I", chance.choice([0, 2**31 - 1, 2**32 - 1]))
        else:
            del data[place:]
    return bytes(data)


def inside_zip(content: bytes, chance: random.Random) -> bytes:
    """A zip archive with its pickle mutated, and whole again around it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            is_pickle = entry.filename.endswith("data.pkl")
            new.writestr(entry.filename, mutated(data, chance) if is_pickle else data)
    return out.getvalue()


def each_truncation(content: bytes, steps: int) -> Iterator[bytes]:
    """*content* cut off at about so many places."""
    for end in range(0, len(content), max(1, len(content) // steps)):
        yield content[:end]


BOMBS: dict[str, Callable[[int], bytes]] = {
    "steps": lambda size: b"N0" * (size // 2),
    "dictionaries": lambda size: b"}" * size,
    "memo": lambda size: b"]\x94" * (size // 2),
    "marks": lambda size: b"(" * size,
    "deep": lambda size: b"]" * (size // 20) + b"a" * (size // 20 - 1),
    "doubling": lambda size: b")" + b"2\x86" * (size // 2),
    "names": lambda size: named("torch.Size") * (size // 13),
    "numbers": lambda size: b"I123456\n" * (size // 8),
    "a list gone through again and again": lambda size: (
        named("collections.OrderedDict") + b"q\x000](" + (text("k") + b"N\x86") * (size // 80)
        + b"e\x85q\x010" + b"h\x00h\x01R0" * (size // 50)
    ),
    "a long key twice": lambda size: (
        text("a" * 9000) + b"q\x010" + text("a" * 9000) + b"q\x020}"
        + b"h\x01Nsh\x02Ns" * (size // 100)
    ),
    "a long number": lambda size: (
        b"\x8b" + struct.pack("<I", size // 2) + b"\x7f" * (size // 2) + b"q\x010}"
        + b"h\x01Ns" * (size // 25)
    ),
}  # fmt: skip
"""Pickles of about a size, each of which asks for as much as it can."""
