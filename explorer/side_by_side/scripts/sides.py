"""Two inputs, or one input and two models."""

from transformers import AutoTokenizer, BertForPreTraining, logging

from explorer.ui.scripts.start import shipped, text_a, text_b, tokenizer

other_a, other_b, is_one, is_other_whole = "The woman went to the [MASK] because he was happy.", None, False, True
OTHER = shipped("assets/models/bert-l6-h384-uncased")  # or a folder, or an id on the Hugging Face hub
if not is_one:
    other_tokenizer = AutoTokenizer.from_pretrained(OTHER)
    if not is_other_whole:
        logging.set_verbosity_error()  # it would list the weights that are not used
    other_model = BertForPreTraining.from_pretrained(OTHER, dtype="float32").requires_grad_(False)
here = tokenizer(text_a, text_b, truncation=True, max_length=512, return_tensors="pt")
there = other_tokenizer(other_a, other_b, truncation=True, max_length=512, return_tensors="pt")
