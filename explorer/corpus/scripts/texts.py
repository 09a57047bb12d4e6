"""The corpus."""

from explorer.ui.scripts.start import shipped

with open(shipped("assets/corpus/sentences.conllu"), encoding="utf-8") as file:  # most are UD English EWT's, CC BY-SA 4.0
    texts = [line.removeprefix("# text = ").strip() for line in file if line.startswith("# text = ")]
