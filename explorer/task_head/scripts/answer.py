from explorer.ui.scripts.start import inputs, model, tokenizer

longest = 30  # tokens of an answer
outputs = model(**inputs)
starts, ends = outputs.start_logits[0].softmax(-1), outputs.end_logits[0].softmax(-1)  # [tokens]
inside = [place for place, side in enumerate(inputs.sequence_ids(0)) if side == 1]
spans = [(start, end) for start in inside for end in inside if start <= end < start + longest]
spans.sort(key=lambda span: -starts[span[0]] * ends[span[1]])  # Devlin et al. 2019, section 4.2
shares = [float(starts[start] * ends[end]) for start, end in spans[:6]]
for (start, end), share in zip(spans, shares):
    print(tokenizer.decode(inputs["input_ids"][0, start : end + 1]), f"{share:.2%}")
