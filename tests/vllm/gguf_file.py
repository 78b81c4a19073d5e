"""Prints where the file of the 0.5 B model lies."""

from core.models.declared import shipped
from core.models.weights import weights_folder

if __name__ == "__main__":
    print(weights_folder(shipped().rows["qwen-0.5b"].settings.file))
