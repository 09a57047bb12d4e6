from explorer.side_by_side.scripts.sides import here, other_tokenizer, there
from explorer.ui.scripts.start import tokenizer

tokens_here = tokenizer.convert_ids_to_tokens(here["input_ids"][0])
tokens_there = other_tokenizer.convert_ids_to_tokens(there["input_ids"][0])
print(tokens_here, tokens_there)
