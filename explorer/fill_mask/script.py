"""Scripts of the Fill-mask tab: guesses, words compared, several blanks, every position, the lens."""

from typing import Any

from explorer.core.paths import ASSETS
from explorer.fill_mask.guesses import MOST_TOGETHER, MOST_WORDS
from explorer.fill_mask.lens import _columns, chosen_lens
from explorer.fill_mask.positions import HIDDEN
from explorer.fill_mask.word import pieces_named
from explorer.techniques.tuned_lens import FILE
from explorer.ui.long_view import is_quick
from explorer.ui.scripts.names import Names
from explorer.ui.scripts.script import script, written
from explorer.ui.subject import Subject
from explorer.ui.view import View

BLANKS = '(inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()'


def logits(names: Names, subject: Subject) -> list[str]:
    """The masked-LM logits of an input."""
    made = f"logits = model(**inputs).{names.word_logits}[0]  # [tokens, vocabulary]"
    return [names.opened(), names.encoded(subject.text_a, subject.text_b), made]


def guesses(view: Any, subject: Subject) -> str:
    """The best guesses for every blank."""
    return script(
        view.question,
        *logits(Names.of(subject), subject),
        f"""
        blanks = {BLANKS}
        probabilities, ids = logits[blanks].softmax(-1).topk({view.top_k})  # [blanks, guesses]
        for place, shares, best in zip(blanks, probabilities.tolist(), ids.tolist()):
            for share, token in zip(shares, tokenizer.convert_ids_to_tokens(best)):
                print(f"position {{place}}: {{token}} {{share:.2%}}")
        """,
    )


def written_pieces(subject: Subject, typed: str, position: int, most: int) -> str:
    """The ids of the named words, else of the two best guesses."""
    return _listed(subject, [id for id, _ in pieces_named(subject, typed, position, most)])


def _listed(subject: Subject, ids: list[int]) -> str:
    pieces = subject.model.tokenizer.convert_ids_to_tokens(ids)
    return f"words = {pieces!r}\nids = tokenizer.convert_tokens_to_ids(words)"


def comparison(view: Any, subject: Subject) -> str:
    """The probabilities of words in the blank, and the ratio of the two likeliest."""
    return script(
        view.question,
        *logits(Names.of(subject), subject),
        written_pieces(subject, view.words, subject.blank, MOST_WORDS),
        f"""
        shares = logits[{subject.blank}].softmax(-1)[ids]  # at position {subject.blank}
        ranked = shares.sort(descending=True).values
        ratio = ranked[0] / ranked[1] if len(ids) > 1 else None
        print(dict(zip(words, shares.tolist())), ratio)
        """,
    )


def together(view: View, subject: Subject) -> str:
    """Several blanks filled one after the other, in two orders."""
    blanks = len(subject.trace.mask_positions)
    if not (1 < blanks <= MOST_TOGETHER and is_quick(subject, 2 * blanks)):
        return ""
    names = Names.of(subject)
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        f"""
        def fill(surest_first):
            ids, log_probability = inputs["input_ids"].clone(), 0.0
            while left := (ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist():
                logits = model(**{{**inputs, "input_ids": ids}}).{names.word_logits}[0]
                probability, best = logits[left].softmax(-1).max(-1)
                place = int(probability.argmax()) if surest_first else 0
                ids[0, left[place]] = best[place]
                log_probability += float(probability[place].log())
            return ids[0, blanks].tolist(), log_probability
        blanks = {BLANKS}
        left_to_right, surest_first = fill(False), fill(True)
        for ids, log_probability in (left_to_right, surest_first):
            print(tokenizer.convert_ids_to_tokens(ids), f"ln p = {{log_probability:.2f}}")
        """,
    )


SURPRISE = """
        def surprise(logits, actual):  # of the piece that stands there, and what was guessed instead
            logs = logits.log_softmax(-1)
            return float(logs[actual]), int((logs > logs[actual]).sum()) + 1, int(logs.argmax())
"""


VISIBLE = """ids = inputs["input_ids"][0]
added = torch.tensor([one is None for one in inputs.sequence_ids(0)])  # by the tokenizer
positions = (~added & (ids != tokenizer.mask_token_id)).nonzero()[:, 0].tolist()"""


def every_position(view: Any, subject: Subject) -> str:
    """The surprisal of each piece."""
    names = Names.of(subject)
    hidden = f"""
        found = []
        for place in positions:  # each is hidden, alone: Salazar et al. 2020
            changed = inputs["input_ids"].clone()
            changed[0, place] = tokenizer.mask_token_id
            logits = model(**{{**inputs, "input_ids": changed}}).{names.word_logits}[0, place]
            found.append(surprise(logits, ids[place]))
    """
    seen = f"""
        logits = model(**inputs).{names.word_logits}[0]
        found = [surprise(logits[place], ids[place]) for place in positions]
    """
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        VISIBLE,
        SURPRISE,
        seen if "way" in view.settings and view.way != HIDDEN else hidden,
        """
        log_probabilities, ranks, best = (torch.tensor(column) for column in zip(*found))
        bits = -log_probabilities / math.log(2)
        for place, bit, rank, guess in zip(positions, bits.tolist(), ranks.tolist(), tokenizer.convert_ids_to_tokens(best)):
            print(tokenizer.convert_ids_to_tokens(int(ids[place])), f"{bit:.2f} bits, rank {rank}, first guess {guess}")
        """,
    )


def likelihoods(view: Any, subject: Subject) -> str:
    """The pseudo-log-likelihood of sentences."""
    names = Names.of(subject)
    sentences = names.texts(*(line.strip() for line in view.sentences.splitlines() if line.strip()))
    untyped = names.untyped().replace("\n", "\n            ")
    return script(
        view.question,
        names.opened(),
        written("sentences", sentences),
        f"""
        scores, pieces = [], []
        for sentence in sentences:
            inputs = {names.tokenized("sentence")}{untyped}
            ids, total = inputs["input_ids"][0], 0.0
            added = torch.tensor([one is None for one in inputs.sequence_ids(0)])
            places = (~added & (ids != tokenizer.mask_token_id)).nonzero()[:, 0].tolist()
            for place in places:  # each piece is hidden, alone: Salazar et al. 2020
                changed = inputs["input_ids"].clone()
                changed[0, place] = tokenizer.mask_token_id
                logits = model(**{{**inputs, "input_ids": changed}}).{names.word_logits}[0, place]
                total += float(logits.log_softmax(-1)[ids[place]])
            scores.append(total)
            pieces.append(len(places))
            print(sentence, f"ln p {{total:.2f}}, a piece {{total / len(places):.3f}}")
        """,
    )


def _tuned(view: Any, subject: Subject) -> str:
    """Lines that map the hidden states as the tuned lens does, if the view reads by it."""
    if chosen_lens(subject, view.reading) is None:
        return ""
    return f"""
        from safetensors.torch import load_file
        tuned = load_file({str(FILE.relative_to(ASSETS.parent))!r})  # fitted for these weights: Belrose et al. 2023
        weight, bias = tuned["weight"].float(), tuned["bias"].float()  # [layers, hidden, hidden] and [layers, hidden]
        hidden_states[:-1] += hidden_states[:-1] @ weight.mT + bias[:, None]  # h + W h + b; the last state as it is
    """


def lens(view: Any, subject: Subject) -> str:
    """The first guess at every position after each layer."""
    names, seen = Names.of(subject), _columns(subject)
    cut = (
        "" if len(seen) == subject.trace.kept else f"hidden_states = hidden_states[:, {seen.start}:{seen.stop}]  # some positions"
    )
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        names.hidden(),
        _tuned(view, subject),
        cut,
        f"""
        final = {names.words("hidden_states[-1]")}.argmax(-1, keepdim=True)  # [positions, 1]
        ids, probabilities, final_ranks = [], [], []
        for hidden in hidden_states:  # each as if it were the last: nostalgebraist 2020
            logits = {names.words("hidden")}  # [positions, vocabulary]
            share, best = logits.softmax(-1).max(-1)
            ids.append(best)
            probabilities.append(share)
            final_ranks.append((logits > logits.gather(-1, final)).sum(-1) + 1)
        ids, probabilities, final_ranks = map(torch.stack, (ids, probabilities, final_ranks))  # [layers + 1, positions]
        for layer, best in enumerate(ids.tolist()):
            print(layer, *tokenizer.convert_ids_to_tokens(best))
        """,
    )


def followed(view: Any, subject: Subject) -> str:
    """The probabilities and ranks of words after each layer."""
    names, (pieces, target) = Names.of(subject), view.asked(subject)
    lead = "" if target.foil is None else "\ndifferences = logits[:, ids] - logits[:, ids[-1:]]  # word minus foil, the last one"
    return script(
        view.question,
        names.opened(),
        names.encoded(subject.text_a, subject.text_b),
        names.hidden(),
        _tuned(view, subject),
        _listed(subject, list(pieces)),
        f"""
        logits = {names.words(f"hidden_states[:, {subject.token}]")}  # [layers + 1, vocabulary]
        probabilities = logits.softmax(-1)[:, ids]
        ranks = torch.stack([(logits > logits[:, [id]]).sum(-1) + 1 for id in ids], 1)
        for word, shares, places in zip(words, probabilities.T.tolist(), ranks.T.tolist()):
            print(word, *(f"{{share:.1%}} (rank {{rank}})" for share, rank in zip(shares, places)))
        """,
        lead,
    )


CODE = {
    "fill-mask/guesses": guesses,
    "fill-mask/comparison": comparison,
    "fill-mask/together": together,
    "fill-mask/positions": every_position,
    "fill-mask/each-word": every_position,
    "fill-mask/likelihoods": likelihoods,
    "fill-mask/lens": lens,
    "fill-mask/followed": followed,
}
WITHOUT = {"fill-mask/game": "A round is drawn and played in the page.", "fill-mask/quiz": "It is a game."}
