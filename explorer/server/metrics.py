"""Metrics for operators, in Prometheus format. No label comes from a visitor."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

from explorer.api.gradio_seams import count_queued
from explorer.bert.explorer import list_loaded
from explorer.page.blocks import PageBlocks

NAME = "bert_explorer"
COUNTED = CollectorRegistry()  # of this process
ProcessCollector(registry=COUNTED)
CALLS = Histogram(
    f"{NAME}_call_seconds",
    "Time that an endpoint, or what a control of the page asks for, takes without its waiting",
    ["name"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=COUNTED,
)
# The kind is a word of ours, an error's class or the phrase of an HTTP status.
REFUSALS = Counter(f"{NAME}_refusals", "Requests and calls that were refused", ["kind"], registry=COUNTED)


def as_text(blocks: PageBlocks) -> bytes:
    now = CollectorRegistry()

    def gauge(name: str, about: str, value: float) -> None:
        Gauge(f"{NAME}_{name}", about, registry=now).set(value)

    models = list_loaded()
    queued, running = count_queued(blocks)
    gauge("queue_length", "Calls that wait", queued + len(blocks.turns))
    gauge("running", "Calls from the queue that are worked on, or wait for a model", running)
    gauge("models", "Models in memory", len(models))
    gauge("trace_bytes", "Memory of the traces that are kept", sum(model.trace_bytes for model in models))
    return generate_latest(COUNTED) + generate_latest(now)
