from typing import Any

import gradio as gr

from explorer.page.components.base import Drawn


class PlotlyChart(Drawn):
    """A Plotly figure in the look of the page, which keeps zoom and camera while `layout.uirevision` stays the same.

    A figure with `layout.meta = {"ramp": "sequential"}` gets the page's own ramp on all its colour axes.

    A click triggers `.select`. In the handler, `event: gr.SelectData` has `event.index`, the number of the point
    ([row, column] in a heatmap), `event.value` (z, text or y of the point), and besides `event.x`, `event.y`,
    `event.customdata` and `event.trace`, the number of the trace. With `lasso` points can be drawn round with a lasso,
    which triggers `.lasso`: `event.index` is the list of the points' customdata.
    """

    custom_events = ("lasso",)

    def __init__(self, value: Any = None, *, height: int = 400, label: str = "", with_lasso: bool = False, **kw: Any) -> None:
        self.skeleton = f"<div class='bx bx-chart' role='img' style='height:{int(height)}px'></div>"
        settings = {"label": label, "height": int(height), "with_lasso": bool(with_lasso)}
        super().__init__(value, label=label, settings=settings, **kw)

    def postprocess(self, value: Any) -> str | dict[str, Any] | None:
        """A figure as JSON, in which arrays are base64."""
        return value if value is None or isinstance(value, (str, dict)) else value.to_json()

    def api_info(self) -> dict[str, Any]:
        """A figure travels as a JSON string."""
        return {"type": "string"}

    @staticmethod
    def shown(figure: Any) -> dict[str, Any]:
        """The update that shows a chart which was not visible, with this figure in it."""
        return gr.update(value=figure, visible=True)
