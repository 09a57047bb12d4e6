"""Score a BERT with both pre-training heads, in tables for the model card:

python evaluate.py FOLDER --heldout FILE…              its scores on texts that it has not read, and on our own sentences
python evaluate.py --average OUT 0.4:FOLDER 0.6:FOLDER  the mean of two or more models' weights (Wortsman et al. 2022)
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import transformers
from batches import IS_NEXT, KINDS, Stream, Vocabulary
from text import Text, load, own_tests
from train import AT_ONCE, DEVICE, held_out_batches, save, score

ROW = "{kind:14} {inputs:6,} {places:7,} {top1:7.1%} {top5:7.1%} {loss:6.3f} {next:7.1%}"


@torch.inference_mode()
def hidden_words(model, text: Text, vocabulary: Vocabulary, sentences: int = 500) -> tuple[float, float]:
    """One word of content per sentence becomes [MASK]: the share of right first guesses, and of copies of another word."""
    dice, right, copied, asked = np.random.default_rng(1), 0, 0, 0
    for sentence in dice.permutation(len(text.sentences) - 1):
        ids = text.between(int(sentence), int(sentence) + 1)[:126].astype(np.int64)
        whole = vocabulary.content[ids] & ~np.append(vocabulary.continues[ids[1:]], False)
        if whole.sum() < 2 or asked == sentences:
            continue
        place = int(dice.choice(np.flatnonzero(whole)))
        row = [vocabulary.cls, *np.where(np.arange(len(ids)) == place, vocabulary.mask, ids), vocabulary.sep]
        guess = int(model(torch.tensor([row], device=model.device)).prediction_logits[0, place + 1].argmax())
        right += guess == ids[place]
        copied += guess != ids[place] and bool(vocabulary.content[guess]) and guess in ids
        asked += 1
    return right / max(1, asked), copied / max(1, asked)


@torch.inference_mode()
def fill_blanks(model: transformers.BertForPreTraining, tokenizer) -> list[tuple[dict[str, str], list[tuple[str, float, bool]]]]:
    """Our own blanks, each with five guesses: the piece, its probability, and whether it is a sensible word."""
    found = []
    for row in own_tests("blanks"):
        given = tokenizer(row["sentence"], return_tensors="pt").to(model.device)
        logits = model(**given).prediction_logits[0][given["input_ids"][0] == tokenizer.mask_token_id][0]
        best = logits.softmax(-1).topk(5)
        guesses = zip(tokenizer.convert_ids_to_tokens(best.indices.tolist()), best.values.tolist(), strict=True)
        found.append((row, [(piece, share, piece in row["sensible"].split()) for piece, share in guesses]))
    return found


@torch.inference_mode()
def judge_pairs(model: transformers.BertForPreTraining, tokenizer) -> list[tuple[dict[str, str], float]]:
    """Our own pairs, each with the probability that B follows A."""
    found = []
    for row in own_tests("following"):
        given = tokenizer(row["text"], row["text_b"], return_tensors="pt").to(model.device)
        found.append((row, float(model(**given).seq_relationship_logits[0].softmax(-1)[IS_NEXT])))
    return found


def by_kind(filled) -> dict[str, tuple[int, int, int]]:
    """Per kind of blank, and for all: the blanks, those with a sensible first guess, and those with one among five."""
    found = {}
    for kind in [*dict.fromkeys(row["kind"] for row, _ in filled), "all"]:
        asked = [[sensible for *_, sensible in guesses] for row, guesses in filled if kind in (row["kind"], "all")]
        found[kind] = len(asked), sum(own[0] for own in asked), sum(map(any, asked))
    return found


def print_own(filled, judged) -> None:
    """The tables of the card on our own blanks and pairs."""
    print("\n| kind | blanks | top-1 | top-5 |\n|---|---:|---:|---:|")
    for kind, (all_of, first, five) in by_kind(filled).items():
        print(f"| {kind} | {all_of} | {first / all_of:.0%} | {five / all_of:.0%} |")
    print("\n| | sentence without a sensible word among five | first five guesses |\n|---|---|---|")
    for row, guesses in filled:
        if not any(sensible for *_, sensible in guesses):
            said = ", ".join(f"{piece} {100 * share:.0f}" for piece, share, _ in guesses)
            print(f"| {row['kind']} | {row['sentence']} | {said} |")
    right = [(follows > 0.5) == (row["label"] == "next") for row, follows in judged]
    print(f"\nPairs: {sum(right)} of {len(right)} are judged right. The others, and how likely B seems:\n")
    for (row, follows), good in zip(judged, right, strict=True):
        if not good:
            print(f"| {row['text']} / {row['text_b']} | {'yes' if row['label'] == 'next' else 'no'} | {follows:.2f} |")


def average(folders: list[str], shares: list[float]) -> transformers.BertForPreTraining:
    """The weighted mean of models' weights; checkpoints trained on from one start are often better averaged than each alone."""
    models = [transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32) for folder in folders]
    parts = [(share / sum(shares), model.state_dict()) for share, model in zip(shares, models, strict=True)]
    models[0].load_state_dict({name: sum(share * part[name] for share, part in parts) for name in parts[0][1]})
    return models[0]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="[SHARE:]FOLDER")
    parser.add_argument("--heldout", type=Path, nargs="+", default=[])
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each kind (default 1,000)")
    parser.add_argument("--average", type=Path, metavar="OUT", help="write the mean of the models there, and score it")
    args = parser.parse_args()
    if args.average:
        shares, folders = zip(*(one.rsplit(":", 1) if ":" in one else ("1", one) for one in args.folders), strict=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folders[0])
        save(args.average, average(list(folders), list(map(float, shares))), tokenizer)
        args.folders = [str(args.average)]
    for folder in args.folders:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval().to(DEVICE)
        vocabulary = Vocabulary.of(tokenizer)
        for file in args.heldout:
            text = load(file, tokenizer)
            print(f"\n{folder}, {file.name}\n{'':14} inputs  places   top-1   top-5   loss     NSP")
            for kind in Stream([(1.0, text)], vocabulary, AT_ONCE, (0.15, 0.15), 1).kinds(0):
                inputs = args.inputs // (4 if KINDS[kind][0] > 128 else 1)
                print(ROW.format(kind=kind, **score(model, held_out_batches(text, vocabulary, kind, inputs))))
            print("hidden words of content: {:.1%} right, {:.1%} copied".format(*hidden_words(model, text, vocabulary)))
        print_own(fill_blanks(model, tokenizer), judge_pairs(model, tokenizer))


if __name__ == "__main__":
    transformers.utils.logging.set_verbosity_error()
    main()
