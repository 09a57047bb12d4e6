"""Make texts and an encoder small enough to travel to a machine without a network:

    python pack.py OUT FOLDER everyday.txt.xz heldout.txt.xz --features all-MiniLM-L6-v2

OUT/NAME.pieces.xz are the texts as pieces, in about one byte per piece. OUT/features is the encoder in eight bits, to learn from.
"""

import argparse
import lzma
from pathlib import Path

import safetensors.torch
import torch
import transformers
from text import HERE, PACKED, load, pack

EIGHT_BITS = "weights.xz"
STEPS = 63  # on each side of 0: 3 MB smaller than with 127; features of all-MiniLM-L6-v2 keep a CKA of 0.999 (0.9998)


def pack_encoder(folder: Path, out: Path) -> None:
    """Write the encoder of a BERT's folder: its matrices as int8 and one scale per row, the rest in half precision."""
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32, add_pooling_layer=False)
    small = {}
    for name, weights in model.state_dict().items():
        small[name] = weights.half()
        if weights.dim() == 2:
            scales = small[f"{name}/scales"] = (weights.abs().amax(1, keepdim=True) / STEPS).clamp_min(1e-7).half()
            small[name] = (weights / scales.float()).round().clamp(-STEPS, STEPS).to(torch.int8)
    out.mkdir(parents=True, exist_ok=True)
    (out / EIGHT_BITS).write_bytes(lzma.compress(safetensors.torch.save(small)))
    model.config.save_pretrained(out)


def load_encoder(folder: Path) -> transformers.BertModel:
    """An encoder in float32 to learn from, of a checkpoint's folder or one that `pack_encoder` wrote."""
    if (folder / EIGHT_BITS).exists():
        small = safetensors.torch.load(lzma.decompress((folder / EIGHT_BITS).read_bytes()))
        names = [name for name in small if not name.endswith("/scales")]
        model = transformers.BertModel(transformers.BertConfig.from_pretrained(folder), add_pooling_layer=False)
        model.load_state_dict({name: small[name].float() * small.get(f"{name}/scales", 1.0) for name in names})
    else:
        model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32, add_pooling_layer=False)
    return model.eval().requires_grad_(False)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", type=Path, nargs="*")
    parser.add_argument("--features", type=Path, help="folder of an encoder")
    args = parser.parse_args()
    tokenizer = transformers.AutoTokenizer.from_pretrained(HERE.parent)
    args.out.mkdir(parents=True, exist_ok=True)
    for path in args.texts:
        packed = args.out / f"{path.name.split('.')[0]}{PACKED}"
        pack(load(path, tokenizer), packed)
        print(f"{path.name}: {packed.stat().st_size / 1e6:.1f} MB", flush=True)
    if args.features:
        pack_encoder(args.features, args.out / "features")


if __name__ == "__main__":
    transformers.utils.logging.set_verbosity_error()
    main()
