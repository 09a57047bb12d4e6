// Draws a view that is a file of its own, from the values that stand in it. Nothing is asked of any server.
import { button, el } from "../shared/dom.js";
import { loadPlotlyBy } from "../shared/plotly.js";
import { followSystem } from "../shared/theme.js";
import * as sides from "./sides.js";

async function start() {
  const data = JSON.parse(await sides.inflated(document.getElementById("bx-data").textContent));
  const main = document.querySelector("main");

  followSystem(document.body.dataset.theme);
  loadPlotlyBy(async () => { // Plotly stands in the file
    const packed = document.getElementById("bx-plotly");
    document.head.append(el("script", {}, await sides.inflated(packed.textContent)));
    packed.remove();
    return window.Plotly;
  });

  const toggle = button("◐", () => document.body.classList.toggle("dark"), { title: "light or dark", "aria-label": "light or dark" });
  const home = data.home?.[0] ? [el("a", { href: data.home[0] }, data.home[1])] : [];
  await sides.draw(main, data.sides, [...home, toggle]);
  document.body.dataset.drawn = "yes";

  if (window.parent !== window) { // in the frame of a notebook, as high as what it shows
    const high = () => Math.ceil(main.getBoundingClientRect().height);
    const tell = () => high() && window.parent.postMessage({ bertExplorer: data.frame, height: high() }, "*");
    new ResizeObserver(tell).observe(main);
    for (const moment of [0, 200, 1000]) setTimeout(tell, moment); // observers sleep in a frame that is out of sight
  }
}

start();
