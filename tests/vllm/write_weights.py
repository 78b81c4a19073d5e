"""Writes the weights of a GGUF file as a folder that vLLM loads.

It is run by `python write_weights.py FILE.gguf FOLDER`, in vLLM's own environment.

It needs the packages gguf and accelerate. One minute and 1.3 GB for the model of 0.5 B.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer


def write(file: Path, folder: Path) -> None:
    """The folder, whole or not at all."""
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    net = AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.bfloat16
    )
    # save_pretrained refuses weights that were quantised once
    save_file(
        {name: value.contiguous().clone() for name, value in net.state_dict().items()},
        unfinished / "model.safetensors",
    )
    config = net.config.to_dict()
    config.pop("quantization_config", None)
    config["architectures"] = [type(net).__name__]
    (unfinished / "config.json").write_text(json.dumps(config, default=str))
    AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name).save_pretrained(unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
