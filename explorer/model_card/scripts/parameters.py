import re

from explorer.model_card.scripts.counted import weights

encoder, pooler, are_shared = "bert", "pooler", False
layer = r"bert\.encoder\.layer\.(\d+)\.(att|sa_)?"
counts = {}
for name, weight in weights.items():
    found = re.match(layer, name)
    inside = name.removeprefix(f"{encoder}.").split(".")[:-1]
    part = " · ".join(inside[: 1 if inside[0] == pooler else 2])
    if found:
        place = "every layer" if are_shared else f"layer {int(found[1]) + 1}"
        part = f"{place} · {'attention' if found[2] else 'feed-forward'}"
    counts[part] = counts.get(part, 0) + weight.numel()
for part, count in counts.items():
    print(f"{count:>12,} {part}")
