"""Write ``config_keys.json``: the keys of every config class with what they are by default.

The first line has those that every config has, the others those of a family beside them. Made
with transformers 5.24.0: ``python tests/data/make_config_keys.py``.
"""

import json
from typing import Any

import transformers
from make_families import SMALL
from real import classes_of, write


def keys_of(config: Any) -> dict[str, Any]:
    """Everything that *config* would write to a file."""
    keys: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
    return {k: v for k, v in sorted(keys.items()) if k != "transformers_version"}


def main() -> None:
    """List the keys of each class."""
    general = keys_of(transformers.PretrainedConfig())
    cases = [{"model_type": "", "config_class": "PreTrainedConfig", "defaults": general}]
    for model_type in ("albert", "bert", *SMALL):
        config_class = transformers.CONFIG_MAPPING[model_type]
        own = {
            k: v
            for k, v in keys_of(config_class()).items()
            if k != "model_type" and (k not in general or v != general[k])
        }
        cases.append({
            "model_type": model_type, "config_class": config_class.__name__, "defaults": own,
            "classes": classes_of(model_type),
        })  # fmt: skip
    source = f"transformers {transformers.__version__}: what each config class holds by default"
    write("config_keys.json", source, cases)


if __name__ == "__main__":
    main()
