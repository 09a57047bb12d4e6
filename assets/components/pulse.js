// Invisible: by its name, the page asks the server for a drawing; its value tells that some parts are still to come.
import { more, pulses } from "../page/drawing.js";
import { define } from "../shared/mounting.js";

define("Pulse", ({ trigger, props, settings }) => {
  pulses.set(settings.name, trigger);
  let told = props.value;
  return () => {
    if (props.value && props.value !== told) more(settings.name);
    told = props.value;
  };
});
