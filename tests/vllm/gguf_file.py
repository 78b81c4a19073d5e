"""Prints where the file of the 0.5 B model lies."""

from core.models.declarations import shipped_declarations
from core.models.weights import weights_folder

if __name__ == "__main__":
    print(weights_folder(shipped_declarations().rows["qwen-0.5b"].settings.file))
