"""The model, and its parameters that are in its file."""

from transformers import BertForPreTraining, logging

from explorer.ui.scripts.start import MODEL, is_whole

if not is_whole:
    logging.set_verbosity_error()  # it would list the weights that are not used
model, info = BertForPreTraining.from_pretrained(MODEL, dtype="float32", output_loading_info=True)
weights = {name: weight for name, weight in model.named_parameters() if name not in info["missing_keys"]}  # shared ones once
