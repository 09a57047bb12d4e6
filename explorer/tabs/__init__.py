"""One module a tab, each with build(page); this is their order on the page."""

from explorer.tabs import (
    attention,
    fill_mask,
    finetune,
    hidden_states,
    inside_head,
    model,
    next_sentence,
    tokens,
)

TABS = (tokens, attention, inside_head, hidden_states, fill_mask, next_sentence, finetune, model)
