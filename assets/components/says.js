// The model's prediction in a sentence, beside the input in every tab.
import { put, texts } from "../page/boxes.js";
import { busyState } from "../page/busy.js";
import { button, el } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";
import { unexpectedTitle, withhold } from "../shared/withheld.js";

drawn("Says", ({ root, trigger, props }) => {
  const PAUSE = 400; // ms at rest before the words are masked in turn
  const bar = document.querySelector("#bar");
  let waiting = 0;
  // Keeps it below the bar while scrolling, whatever the bar's height.
  if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bx-bar", `${bar.offsetHeight}px`)).observe(bar);

  const answer = ({ asked, answer, share, before }) =>
    el("span", {}, asked ? el("bdi", { class: "bx-says-asked" }, asked) : null, el("b", {}, el("bdi", {}, answer)), ` ${share}`,
      before ? el("s", { title: "before the change" }, el("bdi", {}, before)) : null);

  function unexpected({ words, named, partly, as_it_is: asItIs }) {
    const chip = (one) => el("span", {}, el("button", { type: "button", "data-token": one.token, title: unexpectedTitle(one) }, el("bdi", {}, one.word)), ` ${one.share}`);
    const [first, ...others] = words.slice(0, named);
    const where = `${partly ? " in this sentence" : ""}${asItIs ? ", without the change" : ""}`;
    return [el("span", { class: "bx-says-hint" }, `least expected${where}`), chip(first),
      first.guess ? el("span", { class: "bx-says-hint" }, "rather ", el("bdi", {}, first.guess), ` ${first.guess_share}`) : null, ...others.map(chip)].filter(Boolean);
  }

  // Ask again after a while: other calls had priority.
  function ask() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!props.value?.asks || !root.isConnected) return;
      if (!busyState.working) trigger("ask", { index: 0, value: "" });
      ask();
    }, PAUSE);
  }

  // In their boxes, as if [MASK] was typed there.
  function makeBlanks() {
    document.querySelector("#text-a textarea").focus(); // text set while no box has the focus does not count as typed
    texts().forEach((text, i) => put("ab"[i], text.replace(/__+/g, "[MASK]")));
  }

  function draw(value) {
    root.replaceChildren();
    withhold({ unexpected: value?.unexpected });
    if (!value) return;
    if (value.dashes) root.append(el("span", { class: "bx-says-hint" }, "“___” is not a blank: ", button("make it [MASK]", makeBlanks)));
    else if (value.hint) root.append(el("span", { class: "bx-says-hint" }, value.hint));
    if (value.asks && !value.dashes) root.append(el("span", { class: "bx-says-hint" }, "hiding each word in turn …"));
    root.append(...value.answers.map(answer), ...(value.unexpected && !value.dashes ? unexpected(value.unexpected) : []));
    if (value.asks && bar) ask();
  }

  root.addEventListener("click", ({ target }) => {
    const word = target.closest("[data-token]");
    if (word) trigger("mask", { index: Number(word.dataset.token), value: word.textContent });
  });
  return draw;
});
