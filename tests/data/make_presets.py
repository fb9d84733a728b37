"""Write ``presets.json``: the parameters of every preset's bare model, from its class.

Made with transformers 5.24.0 and torch 2.13.0+cpu: ``python tests/data/make_presets.py``.
"""

import json
from pathlib import Path

from real import BUILT, build, parameters, write

CONFIGS = Path(__file__).parents[2] / "configs"
ABOUT = ("source", "published", "hub", "aliases")
"""The keys of a preset that are not those of a config."""


def main() -> None:
    """Count every file of ``configs/``."""
    cases = []
    for path in sorted(CONFIGS.glob("*.json")):
        keys = json.loads(path.read_text(encoding="utf-8"))
        config = {key: value for key, value in keys.items() if key not in ABOUT}
        cases.append({"case": path.stem, "total": parameters(build(config, "model"))})
    write("presets.json", BUILT, cases)


if __name__ == "__main__":
    main()
