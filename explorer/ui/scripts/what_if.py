from explorer.ui.scripts.asked import against, answer, foil, read
from explorer.ui.scripts.start import masked, model, outputs, tokenizer
from explorer.ui.scripts.without import off, run_without

changed = True
swapped_a, swapped_b = None, None  # the input with another word
before = read(outputs.hidden_states[-1]).softmax(-1)[0]
if not changed:
    after = before  # nothing is switched off, swapped, patched or cut
else:
    if swapped_a is None:
        start = outputs.hidden_states[0]
    else:
        swapped = tokenizer(swapped_a, swapped_b, truncation=True, max_length=512, return_tensors="pt")
        if masked is not None:
            swapped["input_ids"][0, masked] = tokenizer.mask_token_id  # hidden
        start = model(**swapped, output_hidden_states=True).hidden_states[0]
    after = read(run_without(off, start)[-1]).softmax(-1)[0]
if foil is None:
    print(before[answer], after[answer])
else:
    lead = (after[answer] / after[against]).log()  # the difference of logits
    print(before[answer], after[answer], lead)
