// Draws a view that is a file of its own, from the values that stand in it. Nothing is asked of any server.
import { el } from "../shared/dom.js";
import { loadPlotlyBy } from "../shared/plotly.js";
import * as sides from "./sides.js";

async function start() {
  const data = JSON.parse(await sides.inflated(document.getElementById("bx-data").textContent));
  const main = document.querySelector("main");

  // ---- The theme: the system's, unless the file says another, or a person does.

  const system = matchMedia("(prefers-color-scheme: dark)");
  const wished = document.body.dataset.theme;
  const dress = (dark) => document.body.classList.toggle("dark", dark);
  dress(wished ? wished === "dark" : system.matches);
  system.addEventListener("change", () => wished || dress(system.matches));

  // ---- Plotly, which stands in the file.

  loadPlotlyBy(async () => {
    const packed = document.getElementById("bx-plotly");
    document.head.append(el("script", {}, await sides.inflated(packed.textContent)));
    packed.remove();
    return window.Plotly;
  });

  // ---- The page.

  const toggle = el("button", { type: "button", title: "light or dark", "aria-label": "light or dark" }, "◐");
  toggle.addEventListener("click", () => dress(!document.body.classList.contains("dark")));
  const home = data.home?.[0] ? [el("a", { href: data.home[0] }, data.home[1])] : [];
  await sides.draw(main, data.sides, [...home, toggle]);
  document.body.dataset.drawn = "yes";

  // ---- In the frame of a notebook, as high as what it shows.

  if (window.parent !== window) {
    const high = () => Math.ceil(main.getBoundingClientRect().height);
    const tell = () => high() && window.parent.postMessage({ bertExplorer: data.frame, height: high() }, "*");
    new ResizeObserver(tell).observe(main);
    for (const moment of [0, 200, 1000]) setTimeout(tell, moment); // observers sleep in a frame that is out of sight
  }
}

start();
