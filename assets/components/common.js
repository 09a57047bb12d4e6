// Our global name: what Gradio's listeners (`js=` in explorer/page) and the tests call. assets/app.js adds the page.
import { mount } from "../shared/mounting.js";
import { background, rampStops, rampTable } from "../shared/theme.js";

window.BertExplorer = { mount, background, rampStops, rampTable };
