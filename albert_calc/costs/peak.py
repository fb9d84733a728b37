"""The most memory that a training step takes at once, moment by moment.

An estimate: the tensors that are alive are followed through the backward pass of the head, of
a few runs of layers and of the embeddings, and through the update. Left out are the CUDA
context, what the allocator holds beside what is used, and what kernels take for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from albert_calc.config.model_config import ModelConfig
from albert_calc.costs.activations import (
    Segment,
    batch_values,
    circumstances,
    kept_by,
    segments,
    unknown,
)
from albert_calc.costs.forward import Circumstances, Stored
from albert_calc.costs.memory import OPTIMIZERS, WIDTHS
from albert_calc.costs.trainable import Trained, count_trainable
from albert_calc.costs.walk import LOSSES, Size, way_back
from albert_calc.costs.workload import Workload
from albert_calc.counting.counts import count
from albert_calc.counting.tensors import Blueprint, is_counted, tensor_table
from albert_calc.families.base import Tensor


class Moment(NamedTuple):
    """A moment of a step at which memory may be highest, and the bytes in use then."""

    name: str
    bytes: int


def training_moments(
    config: ModelConfig, model: Blueprint, workload: Workload
) -> tuple[Moment, ...]:
    """The moments of a training step of *model*; none where its activations are unknown."""
    if unknown(config, model, workload):
        return ()
    case = circumstances(config, model, workload)
    values = batch_values(model, workload)
    dtype = workload.training_dtype or ""

    def size(tensor: Stored | Tensor) -> int:
        if isinstance(tensor, Tensor):
            return tensor.elements.evaluate(values) * WIDTHS[dtype]
        return tensor.elements.evaluate(values) * WIDTHS[tensor.dtype]

    state = resident(model, workload)
    below, *layers, top = segments(case, values)
    t=count_trainable(model, workload.trained).trainable
    largest=max(x.elements.evaluate(values) for x in tensor_table(model.variant) if is_counted(x,model.variant.tied))
    upd=Moment("update", state + (0 if workload.accumulate else t*WIDTHS[dtype]) + OPTIMIZERS[workload.optimizer].temporaries*largest*WIDTHS[dtype])
    return (*_moments(below, layers, top, values, size, state), upd)


def resident(model, workload):
    n = count(model).total
    o = OPTIMIZERS[workload.optimizer]
    w = WIDTHS[workload.training_dtype]
    t = count_trainable(model, workload.trained).trainable
    return n * w + o.moments * t * w + (t * w if workload.accumulate else 0)


def _moments(below, layers, top, values, size, state) -> Iterator[Moment]:
    def kept(segment):
        return sum(map(size, kept_by(segment.nodes)))
    under = kept(below) + sum(kept(s) * s.runs.evaluate(values) for s in layers)
    there: set[str] = set()
    outputs = [n.output for n in top.nodes]
    losses = [n.output for n in top.nodes if n.step.kind in LOSSES]
    read = {t for n in top.nodes for t in n.inputs}
    leaves = [n.output for n in top.nodes if n.output not in read] 
    seeds = {t: size(t) for t in (losses or leaves or [layers[-1].nodes[-1].output])}
    way = way_back(top.nodes, seeds, there, size)
    yield Moment("head", state + under + way.highest)
    grads = way.left - sum(way.waiting.values())
    (hidden_grad,) = way.waiting.values()
    for seg in reversed(layers):
        runs = seg.runs.evaluate(values); copies = seg.copies.evaluate(values)
        a = kept(seg)
        under -= a * runs
        inside = max(1, values["N"]) if copies < runs or values["N"] > 1 else 1
        turns, groups = runs // inside, copies // inside
        W = sum(size(w) for n in seg.nodes for w in n.trained)
        cand = {runs - 1, runs - 2, runs - 1 - inside, 0}
        first_group_turns = -(-turns // groups)
        cand |= {first_group_turns * inside - 1, first_group_turns * inside - 1 - inside, (first_group_turns-1)*inside-1}
        for r in sorted((c for c in cand if 0 <= c < runs), reverse=True):
            t, j = divmod(r, inside)
            g = t * groups // turns
            last_turn = -(-(g + 1) * turns // groups) - 1
            above = (groups - 1 - g) * inside + (inside if t < last_turn else inside - 1 - j)
            done = {w.name for n in seg.nodes for w in n.trained} if t < last_turn else set()
            arriving = {seg.nodes[-1].output: hidden_grad}
            way = way_back(seg.nodes, arriving, set(there) | done, size)
            yield Moment(f"layer run {r}", state + under + a * r + grads + above * W + way.highest)
        grads += copies * W
        if not way.waiting: return
        (hidden_grad,) = way.waiting.values()
    way = way_back(below.nodes, {below.nodes[-1].output: hidden_grad}, there, size)
    yield Moment("embeddings", state + grads + way.highest)
