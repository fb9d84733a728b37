"""What the numbers of a cost mean, in sentences."""

from albert_calc.costs.flops import TRAINING_PASSES
from albert_calc.costs.memory import OPTIMIZERS
from albert_calc.costs.workload import Workload

TOO_LOW = 0.04
"""The most that a step on a GPU was estimated too low, as a share of what it took, above 1 GB."""

ACCURACY = (
    "the peak is an estimate: within 0.1% of 103 steps measured on a CPU, and too low for all 24"
    f" on GPUs, by 0.4 to {TOO_LOW:.0%} above 1 GB; the CUDA context and fragmentation come on top"
)
"""How far the estimate was off where it was measured; the tests hold it to that."""

DOCUMENTED = (
    "with dropout, what sdpa keeps is taken from the documentation of its kernel, and was not"
    " measured"
)
"""Said where activations are not those that were measured on a CPU."""

NOT_AT_ONCE = (
    "the rows of training memory are not all there at once: activations go as gradients come"
)
"""Said of the parts of the peak, whose sum is above it."""

PARTLY_TRAINED = (
    "the FLOPs of training are unknown where parts are frozen: they take less than a backward"
    " pass of all"
)


def assumptions(workload: Workload) -> list[str]:
    """What the cost under *workload* means, a sentence each."""
    sentences = [
        "Executed parameters: each layer counted as often as it runs, everything else once;"
        " a tied output matrix is one with the token table.",
        "Weights: parameters × width; int4 two in a byte, rounded up, without scales. With the"
        " optimizer: the weights and the optimizer's moments. Matrices in int8: dense layers as"
        " torch's quantize_dynamic leaves them, tables whole.",
        "FLOPs: 2 a multiply-add, matrix products only. A matrix m × n takes 2 × m × n for"
        " every token (pooler, sequence classifier: every sequence) each time its layer runs;"
        " attention scores take 4 × B × S² × H in every layer run. B sequences go through the"
        " encoder (multiple-choice: examples × choices)."
        f" Training all of it takes {TRAINING_PASSES} × forward.",
    ]
    dtype = workload.training_dtype
    if dtype is None:
        return [*sentences, f"Training: none, {' and '.join(workload.dtypes)} cannot be trained."]
    copy = (
        "float32 weights and moments beside them (Rajbhandari et al., ZeRO, arXiv 1910.02054)"
        if workload.master_weights
        else "no other copy of the weights"
    )
    return [
        *sentences,
        f"Training state in {dtype}: gradients as wide as what is trained;"
        f" {OPTIMIZERS[workload.optimizer].words}; {copy}.",
        "Activations: what autograd keeps of a batch for its backward pass, the loss included,"
        " exact to the byte against the classes of transformers 5.24 with PyTorch on a CPU;"
        " they are kept for every layer run, shared or not.",
        "The peak is the highest of the moments of a step: the forward pass, the backward pass of"
        " the head, of layers and of the embeddings, and the update. Gradients are set to None"
        " after each step unless they are accumulated; the optimizer goes from one parameter to"
        " the next (foreach=False).",
    ]
