// A part of the picture's value, for the Flow beside it: what is open of it, or the words of a run that was just changed.
import { plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("FlowStep", ({ element, props }) => () => {
  const step = plain(props.value || null);
  const flow = element.closest(".view, .tabitem, [role=tabpanel]")?.querySelector(".bx-flow");
  if (step && flow) flow.dispatchEvent(new CustomEvent("bx-step", { detail: step }));
});
