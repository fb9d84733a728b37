"""The memory of cards by name: what torch can allocate, not the number on the box.

Figures are MiB as torch's ``total_memory`` prints them on Linux, in public logs and issues; it
drifts by up to 1% with the driver. Where none was seen, those of nvidia-smi stand for it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Card(NamedTuple):
    """MiB by nvidia-smi, by torch if seen, and where both were seen."""

    nvidia_smi_mib: int
    torch_mib: int | None
    seen_in: str

    @property
    def bytes(self) -> int:
        """What can be allocated in all."""
        return (self.torch_mib or self.nvidia_smi_mib) * 2**20


CARDS: Mapping[str, Card] = {
    "T4": Card(15360, 15110, "Modal client PR 2797; YOLO logs"),
    "P100-16GB": Card(16280, 16281, "public nvidia-smi and YOLO logs"),
    "V100-16GB": Card(16160, 16160, "k8s-vgpu-scheduler 7"),
    "V100-32GB": Card(32510, 32494, "public logs"),
    "A10": Card(23028, None, "detect-gpu 3"),
    "A10G": Card(23028, 22723, "NVIDIA/DCGM 232"),
    "L4": Card(23034, 22693, "Modal client PR 2797"),
    "L40S": Card(46068, 45495, "akash-network/provider-configs PR 99"),
    "A100-40GB": Card(40960, 40339, "Modal client PR 2797; bottlerocket PR 3873"),
    "A100-80GB": Card(81920, 81038, "Modal client PR 2797"),
    "H100-80GB": Card(81559, 81089, "gpu-burn 114; nccl 1264"),
    "H200": Card(143771, 143156, "public logs"),
    "RTX 2060": Card(6144, 5918, "public logs"),
    "RTX 2080 Ti": Card(11264, 11019, "public logs"),
    "RTX 3060": Card(12288, 12042, "geerlingguy/raspberry-pi-pcie-devices 790"),
    "RTX 3090": Card(24576, 24268, "club-3090 1127"),
    "RTX 4060 Ti 16GB": Card(16380, None, "public logs"),
    "RTX 4070": Card(12282, 12002, "nvidia-all PR 212"),
    "RTX 4090": Card(24564, 24217, "RLinf 255"),
    "RTX 5090": Card(32607, 32102, "club-3090 617"),
    "RTX A4000": Card(16376, 16117, "raspberry-pi-pcie-devices 791"),
    "RTX A6000": Card(49140, 48676, "public logs"),
}
"""Each card by its name."""


def card(name: str) -> tuple[str, Card] | None:
    """The card *name*, in any case, also without its ``RTX``.

    Of two that differ in memory alone it is the smaller.
    """
    wanted = _plain(name)
    found = [(known, one) for known, one in CARDS.items() if wanted in _names(known)]
    return min(found, key=lambda item: item[1].bytes, default=None)


def cards_like(name: str) -> list[str]:
    """The names of cards that contain *name*."""
    wanted = _plain(name)
    return [known for known in CARDS if wanted and wanted in _plain(known)]


def _names(known: str) -> set[str]:
    """What the card *known* may be called: with and without its ``RTX`` and its memory."""
    names = {_plain(known), _plain(re.sub("[ -][0-9]+GB$", "", known))}
    return names | {name.removeprefix("rtx") for name in names}


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())
