from explorer.model_card.scripts.counted import model, weights

config, parameters = model.config, sum(weight.numel() for weight in weights.values())
layers, heads, hidden_size = config.num_hidden_layers, config.num_attention_heads, config.hidden_size
print(f"{layers} layers × {heads} heads × {hidden_size} dimensions, {parameters:,} parameters")
