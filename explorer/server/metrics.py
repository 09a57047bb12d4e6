"""Metrics for operators, in Prometheus format. No label comes from a visitor."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from explorer.api.gradio_seams import queue_length, running_calls
from explorer.bert.explorer import loaded as loaded_models
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
REFUSALS = Counter(f"{NAME}_refusals", "Requests and calls that were refused", ["kind"], registry=COUNTED)


def count_refusal(kind: str) -> None:
    """Count a refusal; `kind` is a word of ours, an error's class or the phrase of an HTTP status."""
    REFUSALS.labels(kind).inc()


def as_text(blocks: PageBlocks) -> bytes:
    """All metrics in Prometheus text format."""
    now = CollectorRegistry()
    now.register(_Now(blocks))
    return generate_latest(COUNTED) + generate_latest(now)


class _Now(Collector):
    """Gauges that are read at the moment of the request."""

    def __init__(self, blocks: PageBlocks) -> None:
        self._blocks = blocks

    def describe(self) -> list[Metric]:
        """Return nothing, so that no gauge is read when it is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        models, waiting = loaded_models(), queue_length(self._blocks) + len(self._blocks.turns)
        yield GaugeMetricFamily(f"{NAME}_queue_length", "Calls that wait", waiting)
        running = running_calls(self._blocks)
        yield GaugeMetricFamily(f"{NAME}_running", "Calls from the queue that are worked on, or wait for a model", running)
        yield GaugeMetricFamily(f"{NAME}_models", "Models in memory", len(models))
        traces = sum(model.trace_bytes for model in models)
        yield GaugeMetricFamily(f"{NAME}_trace_bytes", "Memory of the traces that are kept", traces)
