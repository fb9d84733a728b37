"""Files of ``torch.save`` are interpreted and never executed, and only their pickles are read."""

import io
import os
import random
import struct
import sys
import zipfile
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import pytest
from pickled import (
    BOMBS,
    MAGIC,
    PROTO,
    call,
    dictionary,
    each_truncation,
    inside_zip,
    mutated,
    named,
    old_format,
    saved,
    several,
    sizes,
    state_dict,
    storage,
    tensor,
    text,
    whole,
    zipped,
)
from support import DATA

from albert_calc.checkpoints import stored
from albert_calc.checkpoints.files import Checkpoint, read_checkpoint
from albert_calc.checkpoints.stored import (
    LARGEST_PICKLE,
    MOST_STEPS,
    MOST_TENSORS,
    Limits,
    StoredTensor,
)
from albert_calc.errors import CheckpointError

CHECKPOINTS = DATA / "checkpoints"
SHAPES = {"a.weight": [2, 3], "b": [4], "scalar": [], "none": [0, 5]}


def read(path: Path, content: bytes) -> Checkpoint:
    path.write_bytes(content)
    return read_checkpoint(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pytorch_model.bin"


def refusal(path: Path, content: bytes) -> str:
    """The first line that a file is refused with."""
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(path)
    return caught.value.problems[0]


# ---------------------------------------------------------------- what is read


REAL = {
    "albert-bin": (34, "albert.embeddings.word_embeddings.weight", "F32", (100, 8)),
    "bert-bin-half": (60, "bert.embeddings.word_embeddings.weight", "F16", (100, 16)),
    "bert-bin-legacy": (60, "bert.embeddings.word_embeddings.weight", "F32", (100, 16)),
    "bert-bin-sharded": (58, "cls.predictions.transform.dense.weight", "F32", (16, 16)),
    "training-checkpoint.bin": (58, "cls.predictions.bias", "F32", (100,)),
}
"""Files that PyTorch wrote: how many tensors they hold, and one of them."""


@pytest.mark.parametrize("name", REAL)
def test_files_of_pytorch_are_read(name: str) -> None:
    """The zip format, the old one, shards under an index, a state dict inside a dictionary."""
    count, one, dtype, shape = REAL[name]
    tensors = read_checkpoint(CHECKPOINTS / name).tensors
    assert len(tensors) == count
    assert tensors[one] == StoredTensor(dtype, shape)


def test_what_is_put_together_here_is_what_pytorch_writes(file: Path) -> None:
    """The helpers of these tests write both formats."""
    expected = {name: StoredTensor("F32", tuple(shape)) for name, shape in SHAPES.items()}
    assert read(file, saved(SHAPES)).tensors == expected
    lengths = {str(i): 4 * prod(shape) for i, shape in enumerate(SHAPES.values())}
    assert read(file, old_format(state_dict(SHAPES), lengths)).tensors == expected


@pytest.mark.parametrize("suffix", ["bin", "pt", "pth", "ckpt", ""])
def test_a_file_is_known_by_its_name_or_its_beginning(tmp_path: Path, suffix: str) -> None:
    """Caches keep files under names that say nothing."""
    path = tmp_path / f"checkpoint.{suffix}".rstrip(".")
    assert read(path, saved({"a": [2]})).tensors == {"a": StoredTensor("F32", (2,))}


@pytest.mark.parametrize("key", ["state_dict", "model", "model_state_dict"])
def test_a_state_dict_may_lie_inside(file: Path, key: str) -> None:
    """Training code saves it beside its optimizer and its progress."""
    inner = state_dict({"a": [2]})
    body = dictionary({key: inner, "epoch": whole(3), "optimizer": dictionary({})})
    found = read(file, zipped(body, {"0": 8}))
    assert list(found.tensors) == ["a"]
    assert found.notes == (f"the tensors are those under {key}",)


def test_values_beside_tensors_are_passed_over_with_a_note(file: Path) -> None:
    """A number among the tensors is none."""
    body = dictionary({"a": tensor([2], "0"), "version": whole(1), "more": whole(2)})
    found = read(file, zipped(body, {"0": 8}))
    assert list(found.tensors) == ["a"]
    assert found.notes == ("version and 1 more: no tensor, so passed over",)


def test_storages_that_two_names_share_are_one_parameter(file: Path) -> None:
    """The second name of the same numbers says whose they are; a part of them is its own."""
    body = dictionary(
        {
            "table": tensor([2, 3], "0"),
            "decoder": tensor([2, 3], "0"),
            "part": tensor([3], "0", elements=6, offset=3),
        }
    )
    found = read(file, zipped(body, {"0": 24}))
    assert found.shared == {"decoder": "table"}


def test_attributes_and_python_2_are_understood(file: Path) -> None:
    """A state dict has versions as attributes, and Python 2 wrote it as a list of pairs."""
    pairs = b"](" + several(text("a"), tensor([2], "0")) + b"e"
    body = call("collections.OrderedDict", pairs) + dictionary({"_metadata": b"}"}) + b"b"
    assert list(read(file, zipped(body, {"0": 8})).tensors) == ["a"]


def test_other_dtypes(file: Path) -> None:
    """Storages say which they are, or the tensor does where they hold mere bytes."""
    eighths = call(
        "torch._utils._rebuild_tensor_v3",
        storage("1", 3, "torch.storage.UntypedStorage"),
        whole(0), sizes([3]), sizes([1]), b"\x89", call("collections.OrderedDict"),
        named("torch.float8_e4m3fn"),
    )  # fmt: skip
    half = call(
        "torch._utils._rebuild_tensor_v2",
        storage("0", 4, "torch.HalfStorage"),
        whole(0), sizes([4]), sizes([1]), b"\x89", call("collections.OrderedDict"),
    )  # fmt: skip
    parameter = call("torch._utils._rebuild_parameter", half, b"\x88", b"N")
    found = read(file, zipped(dictionary({"a": parameter, "b": eighths}), {"0": 8, "1": 3}))
    assert [t.dtype for t in found.tensors.values()] == ["F16", "F8_E4M3"]


def test_twenty_gigabytes_cost_what_twenty_kilobytes_do(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers behind a pickle are not read: here they are a hole in the file."""
    pieces = []

    class Watched(io.FileIO):
        def readinto(self, buffer: Any) -> int | None:
            pieces.append(super().readinto(buffer) or 0)
            return pieces[-1]

    monkeypatch.setattr(
        stored, "open", lambda path, _: io.BufferedReader(Watched(path)), raising=False
    )
    content = old_format(dictionary({"a": tensor([5 * 2**28, 4], "0", elements=5 * 2**30)}))
    content = content.replace(PROTO + b"](e.", PROTO + b"](" + text("0") + b"e.")
    with file.open("wb") as out:
        out.write(content)
        out.truncate(len(content) + 8 + 20 * 2**30)
    assert read_checkpoint(file).tensors["a"].elements == 5 * 2**30
    assert 0 < sum(pieces) <= LARGEST_PICKLE


# ---------------------------------------------------------------- what is refused, and not run


REFUSED = {
    "a function": (call("os.system", text("touch ran")), "names os.system, of which no tensor"),
    "a function of Python": (call("builtins.eval", text("1")), "names builtins.eval, of which"),
    "its name in two texts": (
        text("os") + text("system") + b"\x93" + several(text("touch ran")) + b"R",
        "names os.system",
    ),
    "an old instance": (b"(" + text("touch ran") + b"ios\nsystem\n", "names os.system"),
    "a function of torch": (call("torch.load", text("x")), "names torch.load"),
    "a quantized tensor": (call("torch._utils._rebuild_qtensor"), "_rebuild_qtensor"),
    "an attribute": (call("builtins.getattr", text("a")), "names builtins.getattr"),
    "an invisible name": (named("a\u202e.b".encode("unicode_escape").decode()), "of which"),
    "a new object": (named("collections.OrderedDict") + b")\x81", "has the opcode NEWOBJ"),
    "an object": (b"(" + named("collections.OrderedDict") + b"o", "has the opcode OBJ"),
    "an extension": (b"\x82\x01", "has the opcode EXT1"),
    "a set": (b"\x8f", "has the opcode EMPTY_SET"),
    "a buffer": (b"\x97", "has the opcode NEXT_BUFFER"),
    "a call of a storage": (named("torch.FloatStorage") + b")R", "calls torch.FloatStorage"),
    "another persistent thing": (text("module") + b"Q", "that is no storage of numbers"),
    "attributes of a number": (whole(1) + b"}b", "attributes to something other than a dict"),
    "a key of tuples": (b"}" + b")" + b"2\x86" * 60 + b"Ns", "keys are neither names nor"),
    "a tensor beyond its storage": (tensor([9], "0", elements=8), "leaves its storage"),
    "two sizes of a storage": (
        several(tensor([1], "0", elements=8), tensor([1], "0", elements=9)), "two sizes",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), REFUSED.values(), ids=REFUSED)
def test_anything_but_tensors_is_refused_by_name(
    file: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, reason: str
) -> None:
    """The message names what the pickle asks for, and nothing of it is done."""
    monkeypatch.chdir(file.parent)
    before = set(sys.modules)
    problem = refusal(file, zipped(dictionary({"x": body}), {"0": 32}))
    assert problem.startswith(f"{file}: refused: the pickle ")
    assert reason in problem
    assert problem.endswith("; nothing was run")
    assert not (file.parent / "ran").exists()
    assert not {m for m in set(sys.modules) - before if not m.startswith("encodings")}


def test_a_hostile_checkpoint_is_refused() -> None:
    """One that would run a command where PyTorch loads it."""
    with pytest.raises(CheckpointError, match=r"names posix\.system, of which no tensor is made"):
        read_checkpoint(CHECKPOINTS / "hostile-bin")


DAMAGED = {
    "empty": (b"", "empty"),
    "text": (b"hello, world", "no file of torch.save"),
    "GGUF": (b"GGUF" + bytes(99), "a file for llama.cpp"),
    "HDF": (b"\x89HDF\r\n\x1a\n" + bytes(99), "weights for Keras"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "a zip of something else": (zipped(b"N").replace(b"data.pkl", b"data.pkx"), "has no entries"),
    "a plain pickle": (PROTO + b"}.", "a pickle, but none of torch.save"),
    "no dictionary": (zipped(whole(7)), "holds no state dict: it is 7"),
    "one tensor": (zipped(tensor([2], "0"), {"0": 8}), "it is one tensor"),
    "no tensors": (zipped(dictionary({"a": b"N", "b": b"N"})), "its keys are a, b"),
    "nothing": (zipped(b"}"), "holds no state dict: it is empty"),
    "no names": (
        zipped(b"}(" + whole(1) + tensor([2], "0") + b"u", {"0": 8}), "a tensor is called 1",
    ),
    "no storage": (zipped(state_dict({"a": [2]})), "the storage 0: missing"),
    "half a storage": (zipped(state_dict({"a": [2]}), {"0": 4}), "must have 8 bytes, got 4"),
    "no numbers in the old format": (
        old_format(state_dict({"a": [2]}), {"0": 8})[:-1], "must have 8 bytes, got 7",
    ),
    "no list of storages": (old_format(state_dict({"a": [2]})), "the storage 0: missing"),
    "no end": (zipped(b"N")[:-30], "a zip archive that is damaged or truncated"),
    "no stop": (zipped(b"}")[:0] + MAGIC + PROTO + b"M\xe9\x03", "damaged or truncated"),
    "an empty stack": (zipped(b"0"), "the pickle is damaged or truncated"),
    "two values": (zipped(b"NN"), "damaged"),
    "an unknown memo": (zipped(b"h\x05"), "damaged"),
    "a byte that is no opcode": (zipped(b"\xff"), "damaged"),
    "half a pair": (zipped(b"}(Nu"), "damaged"),
    "a pair in a list": (zipped(b"](NNu"), "damaged"),
    "a text without end": (zipped(b"X\xff\xff\xff\xffabc"), "damaged"),
    "a negative size": (zipped(dictionary({"a": tensor([-2], "0", elements=8)})), "damaged"),
    "more dimensions than any": (
        zipped(dictionary({"a": tensor([1] * 99, "0", elements=1)}), {"0": 4}), "damaged",
    ),
    "more numbers than any": (
        zipped(dictionary({"a": tensor([2**31 - 1] * 9, "0", elements=1)}), {"0": 4}), "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_checkpoint_is_told_in_one_line(file: Path, content: bytes, reason: str) -> None:
    """Truncated, damaged, or something else."""
    assert reason in refusal(file, content)


# ---------------------------------------------------------------- archives


def archive(*files: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytearray:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as made:
        for name, content in files:
            made.writestr(name, content)
    return bytearray(out.getvalue())


PICKLE = ("a/data.pkl", PROTO + state_dict({"t": [1]}) + b".")
NUMBERS = ("a/data/0", bytes(4))
_ENTRY = b"PK\x01\x02"


def changed(content: bytearray, at: int, value: bytes) -> bytes:
    """An archive in whose last directory entry some bytes are changed."""
    start = content.rfind(_ENTRY) + at
    content[start : start + len(value)] = value
    return bytes(content)


ARCHIVES = {
    "absolute": (bytes(archive(("/a/data.pkl", PICKLE[1]), NUMBERS)), "a plain, relative name"),
    "upwards": (bytes(archive(PICKLE, NUMBERS, ("../x", b""))), "a plain, relative name"),
    "upwards in Windows": (bytes(archive(PICKLE, ("a\\..\\x", b""))), "a plain, relative name"),
    "compressed": (bytes(archive(PICKLE, NUMBERS, compression=8)), "is compressed, which"),
    "a bomb": (
        bytes(archive(("a/data.pkl", bytes(10**8)), compression=8)), "is compressed, which",
    ),
    "another compression": (bytes(archive(PICKLE, compression=14)), "is compressed, which"),
    "encrypted": (changed(archive(NUMBERS, PICKLE), 8, b"\x01\x00"), "a/data.pkl: is encrypted"),
    "overlapping": (changed(archive(PICKLE, NUMBERS), 42, bytes(4)), "overlaps the entry before"),
    "beyond the end": (
        changed(archive(PICKLE, NUMBERS), 20, struct.pack("<II", 10**6, 10**6)), "leaves the",
    ),
    "a wrong checksum": (changed(archive(NUMBERS, PICKLE), 16, b"1234"), "that is damaged"),
    "two pickles": (bytes(archive(PICKLE, ("b/data.pkl", b""), NUMBERS)), "has 2 entries called"),
    "large": (bytes(archive(("a/data.pkl", bytes(9 * 2**20)))), "more than 8,388,608 bytes"),
    "large, and said to be small": (
        changed(archive(("a/data.pkl", bytes(9 * 2**20))), 20, struct.pack("<II", 9, 9)),
        "that is damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "reason"), ARCHIVES.values(), ids=ARCHIVES)
def test_archives_that_pytorch_never_writes_are_refused(
    file: Path, content: bytes, reason: str
) -> None:
    """Odd names, compression, encryption, overlaps, and pickles that are too large."""
    assert reason in refusal(file, content)


@pytest.mark.filterwarnings("ignore:Duplicate name")  # zipfile warns of what the test makes
def test_a_name_twice_in_an_archive_is_refused(file: Path) -> None:
    """Which of the two is meant cannot be told."""
    assert "two entries of the archive have one name" in refusal(
        file, bytes(archive(PICKLE, PICKLE, NUMBERS))
    )


def test_a_large_directory_is_not_read(file: Path) -> None:
    """An archive could consist of nothing but its directory."""
    with file.open("wb") as out:
        out.write(b"PK\x03\x04")
        out.truncate(30 * 2**20)
        out.seek(0, os.SEEK_END)
        out.write(b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 1, 1, 20 * 2**20, 2**20, 0))
    with pytest.raises(CheckpointError, match="more than 8,388,608 bytes, which is not read"):
        read_checkpoint(file)


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_pickles_are_refused(
    file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a pickle asks for, it is given up soon; a tenth of the limits shows it."""
    assert Limits().steps == MOST_STEPS
    monkeypatch.setattr(
        "albert_calc.checkpoints.files.Limits", partial(Limits, steps=MOST_STEPS // 10)
    )
    told = refusal(file, old_format(BOMBS[name](LARGEST_PICKLE // 10)))
    # A number of megabytes is no key, whatever comes after it.
    reason = "keys are neither" if name == "a long number" else "takes more than 500,000 steps"
    assert reason in told


def test_a_pickle_of_the_old_format_has_a_limit_too(file: Path) -> None:
    """It does not say how long it is."""
    assert "more than 8,388,608 bytes" in refusal(file, old_format(text("a" * 9 * 2**20)))


def test_a_file_of_many_tensors_is_refused(file: Path) -> None:
    """No encoder has so many, in a pickle as in a header."""
    for more, refused in ((0, False), (1, True)):
        # One tensor, remembered, under many names: few steps for each.
        others = {f"t{i}": b"h\x07" for i in range(MOST_TENSORS - 1 + more)}
        body = dictionary({"first": tensor((1,), "0") + b"q\x07", **others})
        file.write_bytes(zipped(body, {"0": 4}))
        try:
            assert len(read_checkpoint(file).tensors) == MOST_TENSORS
            assert not refused
        except CheckpointError as error:
            assert refused, error
            assert "has more than 20,000 tensors, which no encoder has" in str(error)


def test_all_shards_share_one_limit(tmp_path: Path) -> None:
    """Many pickles are as much work as one."""
    for name in ("x", "y"):
        body = state_dict({name: [1]}) + b"N0" * 150_000
        (tmp_path / f"{name}.bin").write_bytes(zipped(body, {"0": 4}))
    index = tmp_path / "pytorch_model.bin.index.json"
    index.write_text('{"weight_map": {"x": "x.bin", "y": "y.bin"}}')
    with pytest.raises(CheckpointError, match="takes more than 500,000 steps"):
        read_checkpoint(index)


# ---------------------------------------------------------------- mutants


SEEDS = [
    saved(SHAPES),
    old_format(state_dict(SHAPES), {str(i): 4 * prod(s) for i, s in enumerate(SHAPES.values())}),
    (CHECKPOINTS / "albert-bin" / "pytorch_model.bin").read_bytes(),
    (CHECKPOINTS / "bert-bin-legacy" / "pytorch_model.bin").read_bytes(),
    (CHECKPOINTS / "hostile-bin" / "pytorch_model.bin").read_bytes(),
]


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_mutants_are_read_or_refused(file: Path, seed: int) -> None:
    """Nothing but the error of this package is ever raised, and each message is one line."""
    chance = random.Random(seed)
    content = SEEDS[seed]
    rounds = int(os.environ.get("ALBERT_CALC_ATTACKS", "0")) or 150
    mutants = [mutated(content, chance) for _ in range(rounds)]
    if content.startswith(b"PK"):
        mutants += [inside_zip(content, chance) for _ in range(rounds)]
    for mutant in (*mutants, *each_truncation(content, 100)):
        file.write_bytes(mutant)
        try:
            read_checkpoint(file)
        except CheckpointError as error:
            assert len(error.problems) <= 21
            assert all(p.isprintable() and len(p) < 600 for p in error.problems)
