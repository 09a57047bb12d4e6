// Our global name: what Gradio's listeners (`js=` in explorer/page) and the tests call. assets/app.js adds the page.
import { el } from "../shared/dom.js";
import { mount } from "../shared/mounting.js";
import { background, rampStops, rampTable } from "../shared/theme.js";

window.BertExplorer = { mount, el, background, rampStops, rampTable };
