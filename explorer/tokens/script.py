"""Programs: ids, and the embeddings that are added up."""

from explorer.ui.programs import programs

program = programs(__file__)
PROGRAMS = dict.fromkeys(("tokens/pieces", "tokens/embeddings"), program("embeddings"))
