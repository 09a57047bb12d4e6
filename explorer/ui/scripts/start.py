"""The model with its pre-training heads."""

from transformers import AutoTokenizer, BertForPreTraining

from explorer.ui.scripts.shipped import shipped

MODEL = shipped("assets/models/bert-l6-h384-uncased")  # or another folder, or an id on the Hugging Face hub
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = BertForPreTraining.from_pretrained(MODEL, dtype="float32", attn_implementation="eager").requires_grad_(False)
longest = model.config.max_position_embeddings  # tokens
