// A text with one part marked.
import { el, plain } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

define("Passage", ({ element, props }) => {
  const root = element.querySelector(".bx-passage");

  return () => {
    const value = plain(props.value || null);
    root.replaceChildren();
    if (value) root.append(value.before, ...(value.marked ? [el("mark", {}, value.marked)] : []), value.after);
  };
});
