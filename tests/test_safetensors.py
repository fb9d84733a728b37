"""Headers are read strictly, and nothing but headers is read."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from headers import WIDTHS, entries, packed, write_tensors
from pickled import call, dictionary, named, sizes, storage, whole, zipped
from support import DATA, Faults

from albert_calc.checkpoints import safetensors
from albert_calc.checkpoints.files import read_checkpoint
from albert_calc.checkpoints.safetensors import BITS, read_safetensors
from albert_calc.checkpoints.stored import LARGEST_HEADER, MOST_TENSORS, Limits, StoredTensor
from albert_calc.checkpoints.torch_objects import BYTES
from albert_calc.errors import CheckpointError


def read_header(path: str) -> dict[str, StoredTensor]:
    return read_safetensors(path, Limits())


A = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def one(**changes: Any) -> bytes:
    return json.dumps({"a": {**A, **changes}}).encode()


def two(first: list[int], second: list[int]) -> bytes:
    return json.dumps(
        {"a": {**A, "data_offsets": first}, "b": {**A, "data_offsets": second}}
    ).encode()


SOUND = {
    "one tensor": packed(one(), 8),
    "nothing": packed(b"{}"),
    "padding": packed(one() + b"   ", 8),
    "metadata": packed(b'{"__metadata__": {"format": "pt"}}'),
    "no metadata": packed(b'{"__metadata__": null}'),
    "a key more": packed(one(more=1), 8),
    "a single number": packed(one(shape=[], data_offsets=[0, 4]), 4),
    "no numbers": packed(one(shape=[0, 5], data_offsets=[0, 0])),
    "half bytes": packed(one(dtype="F4", shape=[4], data_offsets=[0, 2]), 2),
    "three quarters of bytes": packed(one(dtype="F6_E2M3", shape=[4], data_offsets=[0, 3]), 3),
    "any order": packed(two([8, 16], [0, 8]), 16),
}

WRONG = {
    "empty": (b"", "must begin with the 8 bytes of the header's length, but has 0 bytes"),
    "seven bytes": (bytes(7), "but has 7 bytes"),
    "cut within the header": (packed(one(), 8)[:30], "the file ends after 22: it is truncated"),
    "length beyond the file": (packed(one(), 8, 1000), "should have 1,000 bytes"),
    "length of exabytes": (packed(one(), 8, 2**63), "should have 9,223,372,036,854,775,808"),
    "cut within the data": (packed(one(), 7), "cut short, as a download that broke off"),
    "no header": (bytes(8), "not JSON"),
    "not JSON": (packed(b"{hello}"), "not valid JSON"),
    "a list": (packed(b"[]"), "must begin with {"),
    "a space first": (packed(b" {}"), "must begin with {"),
    "byte-order mark": (packed(b"\xef\xbb\xbf{}"), "must begin with {"),
    "not UTF-8": (packed(b'{"\xff": 1}'), "not UTF-8"),
    "NaN": (packed(b'{"a": NaN}'), "NaN is not a JSON value"),
    "deep": (packed(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "nested too deeply"),
    "a name twice": (packed(one()[:-1] + b"," + one()[1:], 8), "the key 'a' stands twice"),
    "a key twice": (packed(b'{"a": {"dtype": "F32", "dtype": "F16"}}'), "'dtype' stands twice"),
    "metadata of numbers": (packed(b'{"__metadata__": {"a": 1}}'), "must hold text only"),
    "metadata in a list": (packed(b'{"__metadata__": []}'), "__metadata__: must be an object"),
    "no entry": (packed(b'{"a": null}'), "a: must be an object of dtype, shape and data_offsets"),
    "a list for an entry": (packed(b'{"a": ["F32", [2], [0, 8]]}', 8), "a: must be an object"),
    "keys missing": (packed(b'{"a": {"dtype": "F32"}}'), "a: shape and data_offsets missing"),
    "unknown dtype": (packed(one(dtype="F31"), 8), "dtype: must be one of BOOL,"),
    "dtype of numbers": (packed(one(dtype=32), 8), "got 32"),
    "negative": (packed(one(shape=[-2]), 8), "got [-2]"),
    "boolean": (packed(one(shape=[True, 2]), 8), "got [true, 2]"),
    "fraction": (packed(one(shape=[2.0]), 8), "got [2.0]"),
    "huge size": (packed(one(shape=[2**64]), 8), "whole numbers from 0 to 2^64 - 1"),
    "huge number": (packed(one(shape=[10**50]), 8), "a number of 51 digits is no size"),
    "overflow": (packed(one(shape=[2**63, 2, 0]), 8), "needs too many bits"),
    "text for a shape": (packed(one(shape="2"), 8), "shape: must be a list"),
    "three offsets": (packed(one(data_offsets=[0, 8, 8]), 8), "data_offsets: must be two"),
    "negative offset": (packed(one(data_offsets=[-8, 0]), 8), "data_offsets: must be two"),
    "backwards": (packed(one(data_offsets=[8, 0]), 8), "must not end before they begin"),
    "overlap": (packed(two([0, 8], [4, 12]), 12), "b: data_offsets [4, 12]: overlap the tensor"),
    "the same place": (packed(two([0, 8], [0, 8]), 8), "overlap the tensor before"),
    "hole": (packed(two([0, 8], [9, 17]), 17), "b: data_offsets [9, 17]: leave a hole"),
    "hole at the front": (packed(one(data_offsets=[1, 9]), 9), "leave a hole"),
    "cut between tensors": (packed(two([0, 8], [8, 16]), 8), "take 16 bytes, of which 8"),
    "beyond the file": (packed(two([0, 8], [9, 17]), 8), "b: data_offsets [9, 17]: leave the file"),
    "bytes left over": (packed(one(), 9), "1 bytes at the end of the file belong to no tensor"),
    "too few bytes": (packed(one(shape=[3]), 8), "of F32 needs 96 bits, but data_offsets give 64"),
    "another dtype": (packed(one(dtype="F16"), 8), "shape [2] of F16 needs 32 bits"),
    "half a byte": (packed(one(dtype="F4", shape=[3], data_offsets=[0, 2]), 2), "needs 12 bits"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "torch.save": (b"PK\x03\x04\x00\x00\x08\x08" + bytes(99), "a file of torch.save, not of"),
    "pickle": (b"\x80\x02}q\x00X\x05\x00" + bytes(99), "a file of torch.save, not of safetensors"),
}  # fmt: skip


@pytest.mark.parametrize("content", SOUND.values(), ids=SOUND)
def test_sound_headers_are_read(tmp_path: Path, content: bytes) -> None:
    """What the format allows is accepted."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    read_header(str(path))


@pytest.mark.parametrize(("content", "reason"), WRONG.values(), ids=WRONG)
def test_each_contradiction_has_its_message(tmp_path: Path, content: bytes, reason: str) -> None:
    """What the format forbids is refused, and the message says what it is."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_header(str(path))
    assert reason in str(caught.value)
    assert all("model.safetensors" in line for line in caught.value.problems)


# ---------------------------------------------------------------- widths of dtypes


@pytest.mark.parametrize(("dtype", "bits"), WIDTHS.items())
def test_every_dtype_has_its_width(tmp_path: Path, dtype: str, bits: int) -> None:
    """Eight numbers of a dtype take as many bytes as one of them has bits, and no byte else."""
    path = tmp_path / "model.safetensors"
    for length in (bits, bits - 1, bits + 1):
        path.write_bytes(packed(one(dtype=dtype, shape=[8], data_offsets=[0, length]), length))
        if length == bits:
            assert read_header(str(path)) == {"a": StoredTensor(dtype, (8,))}
        else:
            with pytest.raises(CheckpointError, match=f"of {dtype} needs {8 * bits} bits"):
                read_header(str(path))


TORCH: dict[str, tuple[str, int]] = {
    "bool": ("BOOL", 1), "uint8": ("U8", 1), "uint16": ("U16", 2), "uint32": ("U32", 4),
    "uint64": ("U64", 8), "int8": ("I8", 1), "int16": ("I16", 2), "short": ("I16", 2),
    "int32": ("I32", 4), "int": ("I32", 4), "int64": ("I64", 8), "long": ("I64", 8),
    "float16": ("F16", 2), "half": ("F16", 2), "bfloat16": ("BF16", 2), "float32": ("F32", 4),
    "float": ("F32", 4), "float64": ("F64", 8), "double": ("F64", 8), "complex64": ("C64", 8),
    "complex128": ("C128", 16), "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", 1), "float8_e5m2": ("F8_E5M2", 1),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 1), "float8_e8m0fnu": ("F8_E8M0", 1),
    "BoolStorage": ("BOOL", 1), "ByteStorage": ("U8", 1), "CharStorage": ("I8", 1),
    "ShortStorage": ("I16", 2), "IntStorage": ("I32", 4), "LongStorage": ("I64", 8),
    "HalfStorage": ("F16", 2), "BFloat16Storage": ("BF16", 2), "FloatStorage": ("F32", 4),
    "DoubleStorage": ("F64", 8), "ComplexFloatStorage": ("C64", 8),
    "ComplexDoubleStorage": ("C128", 16),
}  # fmt: skip
"""Dtypes and storages of PyTorch 2.13: what safetensors calls them, and the bytes of a number."""


def tensor_of(kind: str, length: int) -> bytes:
    """The opcodes of eight numbers of *kind*, a dtype or a storage, in so many bytes."""
    if kind.endswith("Storage"):
        function, place, dtype = "_rebuild_tensor_v2", storage("0", 8, f"torch.{kind}"), []
    else:
        untyped = storage("0", length, "torch.storage.UntypedStorage")
        function, place, dtype = "_rebuild_tensor_v3", untyped, [named(f"torch.{kind}")]
    no_hooks = call("collections.OrderedDict")
    given = (place, whole(0), sizes([8]), sizes([1]), b"\x89", no_hooks, *dtype)
    return call(f"torch._utils.{function}", *given)


def test_every_dtype_of_pytorch_has_its_width(tmp_path: Path) -> None:
    """Eight numbers lie in eight times the bytes of one, and a byte less is too few."""
    path = tmp_path / "pytorch_model.bin"

    def found(kind: str, length: int) -> object:
        path.write_bytes(zipped(dictionary({"a": tensor_of(kind, length)}), {"0": length}))
        try:
            return read_checkpoint(path).tensors
        except CheckpointError as error:
            return error.problems[0]

    faults = Faults()
    for kind, (dtype, width) in TORCH.items():
        faults.expect(kind, found(kind, 8 * width), {"a": StoredTensor(dtype, (8,))})
        short = f"must have {8 * width} bytes, got" if kind.endswith("Storage") else "leaves its"
        problem = str(found(kind, 8 * width - 1))
        faults.expect((kind, "cut"), short in problem or problem, True)
    faults.none()


def test_no_dtype_is_without_a_width_here() -> None:
    """The widths that the package knows are those above."""
    assert dict(BITS) == WIDTHS
    assert dict(BYTES) == dict(TORCH.values())


def test_many_problems_are_told_in_few_lines(tmp_path: Path) -> None:
    """Of a thousand bad entries the first are named and the others counted."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(packed(json.dumps({f"t{i}": i for i in range(1000)}).encode()))
    with pytest.raises(CheckpointError) as caught:
        read_header(str(path))
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1] == "and 980 more problems"


def test_a_header_beyond_the_limit_is_not_parsed(tmp_path: Path) -> None:
    """The message says how long the header is and how much is read."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(packed(b"{}" + b" " * LARGEST_HEADER))
    with pytest.raises(CheckpointError, match="has 4,194,306 bytes; at most 4,194,304 are read"):
        read_header(str(path))


def test_sizes_without_end_are_refused_at_once(tmp_path: Path) -> None:
    """Multiplying a hundred thousand huge sizes would take minutes."""
    path = tmp_path / "model.safetensors"
    for shape, problem in (
        ([2**63] * 64, "needs too many bits"),
        ([2**63] * 100_000, "must have at most 64 sizes, got 100,000"),
    ):
        path.write_bytes(packed(one(shape=shape), 8))
        with pytest.raises(CheckpointError, match=problem):
            read_header(str(path))


def test_a_name_of_megabytes_is_refused(tmp_path: Path) -> None:
    """A name that is longer than any tensor's is not worked on."""
    path = tmp_path / "model.safetensors"
    entry = {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}
    path.write_bytes(packed(json.dumps({"n" * 2_000_000: entry}).encode(), 8))
    with pytest.raises(CheckpointError, match="a name of 2,000,000 characters is no tensor's"):
        read_header(str(path))


def test_twenty_gigabytes_cost_what_twenty_kilobytes_do(tmp_path: Path) -> None:
    """Only the header is read, however much data follows."""
    path = write_tensors(tmp_path / "model.safetensors", {"a": [20 * 2**30]}, "U8")
    assert read_header(str(path))["a"].elements == 20 * 2**30


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Nobody may ever write into a pipe, so it is not opened."""
    path = tmp_path / "model.safetensors"
    os.mkfifo(path)
    with pytest.raises(CheckpointError, match="must be a regular file"):
        read_checkpoint(path)


def test_a_device_is_refused() -> None:
    """A device has no end."""
    with pytest.raises(CheckpointError, match="must be a regular file"):
        read_checkpoint("/dev/zero")


@pytest.mark.parametrize("name", ["none.safetensors", "no\0thing.safetensors"])
def test_a_file_that_is_not_there_has_a_message(tmp_path: Path, name: str) -> None:
    """Neither a missing file nor an impossible name is a traceback."""
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_checkpoint(f"{tmp_path}/{name}")


def sharded(folder: Path, places: object, **shards: dict[str, list[int]]) -> Path:
    for name, shapes in shards.items():
        write_tensors(folder / f"{name}.safetensors", shapes)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    return index


def test_shards_are_put_together(tmp_path: Path) -> None:
    """An index gives the tensors of all files that it names; so does its directory."""
    index = sharded(
        tmp_path, {"a": "x.safetensors", "b": "y.safetensors"}, x={"a": [1]}, y={"b": [2, 3]}
    )
    assert read_checkpoint(index).tensors == {
        "a": StoredTensor("F32", (1,)),
        "b": StoredTensor("F32", (2, 3)),
    }
    assert read_checkpoint(tmp_path) == read_checkpoint(index)


def test_a_tensor_that_the_index_forgets_is_read_with_a_note(tmp_path: Path) -> None:
    """As in transformers, which loads all of a file whatever the index says."""
    index = sharded(tmp_path, {"a": "x.safetensors"}, x={"a": [1], "b": [2]})
    checkpoint = read_checkpoint(index)
    assert list(checkpoint.tensors) == ["a", "b"]
    assert checkpoint.notes == ("the index does not name b, but its files do",)


WRONG_MAPS: dict[str, tuple[object, str]] = {
    "none": (None, "weight_map is missing"),
    "a list": ([], "weight_map must be an object"),
    "missing shard": ({"a": "z.safetensors"}, "z.safetensors: cannot be read: No such file"),
    "wrong shard": ({"a": "x.safetensors", "b": "x.safetensors"}, "b: the index says x.safetens"),
    "above": ({"a": "../x.safetensors"}, "a: must be a file beside the index, got '../x"),
    "above in the middle": ({"a": "s/../../x"}, "must be a file beside the index"),
    "above in Windows": ({"a": "..\\x"}, "must be a file beside the index"),
    "absolute": ({"a": "/etc/passwd"}, "must be a file beside the index, got '/etc/passwd'"),
    "drive": ({"a": "C:x"}, "must be a file beside the index"),
    "network": ({"a": "\\\\host\\x"}, "must be a file beside the index"),
    "empty": ({"a": ""}, "must be a file beside the index, got ''"),
    "number": ({"a": 1}, "must be a file beside the index, got 1"),
    "its own directory": ({"a": "."}, "must be a regular file"),
    "another format": ({"a": "model.onnx"}, "model.onnx: a graph for ONNX"),
    "too many": ({f"t{i}": f"f{i}" for i in range(1001)}, "names 1,001 files; at most 1,000"),
    "in two files": ({"a": "x.safetensors", "b": "y.safetensors"}, "a: is in two files, x.safe"),
}  # fmt: skip


@pytest.mark.parametrize(("places", "reason"), WRONG_MAPS.values(), ids=WRONG_MAPS)
def test_an_index_must_agree_with_its_files(tmp_path: Path, places: object, reason: str) -> None:
    """Every file must be beside the index, be there, and hold what the index says."""
    index = sharded(tmp_path, places, x={"a": [1]}, y={"a": [1], "b": [1]})
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(index)
    assert reason in str(caught.value)


def test_a_link_beside_the_index_may_lead_elsewhere(tmp_path: Path) -> None:
    """Model caches store every file as a link to a blob in another directory."""
    folder = tmp_path / "snapshot"
    folder.mkdir()
    write_tensors(tmp_path / "blob", {"a": [1]})
    (folder / "x.safetensors").symlink_to(tmp_path / "blob")
    assert list(read_checkpoint(sharded(folder, {"a": "x.safetensors"})).tensors) == ["a"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"weight_map": {}, "weight_map": {}}', "\xff"])
def test_an_index_that_is_no_object_is_refused(tmp_path: Path, content: str) -> None:
    """An index is read as strictly as a config."""
    index = tmp_path / "model.safetensors.index.json"
    index.write_bytes(content.encode("latin-1"))
    with pytest.raises(CheckpointError, match=r"index\.json"):
        read_checkpoint(index)


def test_a_huge_index_is_refused(tmp_path: Path) -> None:
    """An index has the same limit as a header."""
    index = tmp_path / "model.safetensors.index.json"
    with index.open("wb") as file:
        file.truncate(LARGEST_HEADER + 1)
    with pytest.raises(CheckpointError, match="at most 4,194,304 are read"):
        read_checkpoint(index)


def test_the_headers_of_all_shards_share_one_limit(tmp_path: Path) -> None:
    """Many long headers are as much work as one that is too long."""
    header, length = entries({"a": [1]})
    long = json.dumps(header).encode() + b" " * (LARGEST_HEADER // 2)
    for name in ("x", "y"):
        (tmp_path / name).write_bytes(packed(long.replace(b'"a"', f'"{name}"'.encode()), length))
    index = sharded(tmp_path, {"x": "x", "y": "y"})
    with pytest.raises(CheckpointError, match="y: the header has"):
        read_checkpoint(index)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ([], "has no model.safetensors and no pytorch_model.bin"),
        (["training.pt"], "give one file of it, such as training.pt"),
        (["model.ckpt-1000.index"], "model.ckpt-1000.index is a TensorFlow checkpoint; from_"),
        (["model.onnx"], "model.onnx is a graph for ONNX"),
        (["other.safetensors"], "give one file of it, such as other.safetensors"),
    ],
)
def test_a_directory_without_a_checkpoint_says_what_it_has(
    tmp_path: Path, names: list[str], hint: str
) -> None:
    """The message points at what could be meant."""
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(tmp_path)
    assert hint in str(caught.value)


def test_the_single_file_wins_over_an_index(tmp_path: Path) -> None:
    """Where a directory has both, the file is read, as transformers does."""
    sharded(tmp_path, {"a": "x.safetensors"}, x={"a": [1]})
    write_tensors(tmp_path / "model.safetensors", {"b": [1]})
    assert list(read_checkpoint(tmp_path).tensors) == ["b"]


# ---------------------------------------------------------------- limits and other kinds of files


def test_a_header_of_many_tensors_is_not_parsed(tmp_path: Path) -> None:
    """However the names of its keys are spelled."""
    path = tmp_path / "model.safetensors"
    none = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"{i}": none for i in range(MOST_TENSORS + 1)}, separators=(",", ":"))
    for spelled in (header, header.replace("dtype", "dt\\u0079pe", 1)):
        path.write_bytes(packed(spelled.encode()))
        with pytest.raises(CheckpointError, match="has more than 20,000 tensors"):
            read_checkpoint(path)


@pytest.mark.parametrize("damaged", [False, True])
def test_a_file_with_several_names_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    """An index can name one file in many ways, and through links."""
    read: list[str] = []
    original = safetensors.read_safetensors

    def counted(path: str, limits: Limits) -> dict[str, StoredTensor]:
        read.append(path)
        return original(path, limits)

    monkeypatch.setattr("albert_calc.checkpoints.files.read_safetensors", counted)
    names = [f"t{i}" for i in range(20)]
    (tmp_path / "link").symlink_to(tmp_path / "a.safetensors")
    places = {n: "." + "/" * i + "a.safetensors" for i, n in enumerate(names) if i}
    index = sharded(tmp_path, {**places, "t0": "link"}, a={n: [1] for n in names})
    if damaged:
        (tmp_path / "a.safetensors").write_bytes(b"")
        with pytest.raises(CheckpointError) as caught:
            read_checkpoint(index)
        assert len(caught.value.problems) == 1
    else:
        assert list(read_checkpoint(index).tensors) == names
    assert len(read) == 1


def test_what_is_read_in_vain_counts(tmp_path: Path) -> None:
    """Damaged headers are as much work as sound ones."""
    for name in ("x", "y", "z"):
        (tmp_path / name).write_bytes(packed(b"{" + b" " * (LARGEST_HEADER // 2 - 100)))
    index = sharded(tmp_path, {"a": "x", "b": "y", "c": "z"})
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(index)
    first, second, third = caught.value.problems
    assert "not valid JSON" in first and "not valid JSON" in second
    assert "at most 4,194,304 are read for one checkpoint" in third


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "shard"])
def test_a_pipe_in_a_directory_is_refused_without_waiting(tmp_path: Path, name: str) -> None:
    """Whether it is a checkpoint's only file or a shard of it."""
    os.mkfifo(tmp_path / name)
    if name == "shard":
        sharded(tmp_path, {"a": "shard"})
    with pytest.raises(CheckpointError, match="must be a regular file"):
        read_checkpoint(tmp_path)


FOREIGN = {
    "model.ckpt-100.index": "a TensorFlow checkpoint",
    "model.ckpt-100.data-00000-of-00001": "a TensorFlow checkpoint",
    "model.ckpt-100": "a TensorFlow checkpoint",
    "tf_model.h5": "weights for Keras",
    "flax_model.msgpack": "weights for Flax",
    "model.onnx": "a graph for ONNX",
    "model.gguf": "a file for llama.cpp",
    "model.tflite": "a graph for TensorFlow Lite",
}


@pytest.mark.parametrize(("name", "what"), FOREIGN.items())
def test_files_of_other_frameworks_are_named(tmp_path: Path, name: str, what: str) -> None:
    """What the file is, and what to do instead."""
    (tmp_path / "model.ckpt-100.index").touch()
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(tmp_path / name)
    assert f"{name}: {what}" in str(caught.value)
    assert "; " in str(caught.value)


def test_a_copy_of_a_cache_without_links_is_read() -> None:
    """Some tools leave the text of a link in its place."""
    (snapshot,) = (DATA / "checkpoints" / "hub").glob("*/snapshots/*")
    assert len(read_checkpoint(snapshot).tensors) == 32
