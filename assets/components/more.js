// The choices of a tab that are not beside its question: a menu with the question that each one answers.
import { along } from "../arithmetic/moves.js";
import { el, rove } from "../shared/dom.js";
import { drawn } from "../shared/mounting.js";

drawn("More", ({ root, props }) => {
  const opener = el("button", { type: "button", "aria-haspopup": "menu" }, "More");
  const menu = el("ul", { role: "menu", "aria-label": "More", popover: "" });
  opener.popoverTargetElement = menu; // the browser opens and closes it
  root.append(opener, menu);

  const radioOf = (label) => [...document.querySelectorAll(`#${props.value.of} input`)].find((radio) => radio.closest("label").textContent.trim() === label);

  function goTo(number) {
    rove([...menu.children], number);
    menu.children[number].focus();
  }

  function choose({ dataset: { label } }) {
    menu.hidePopover();
    const radio = radioOf(label);
    radio.click();
    radio.focus();
  }

  menu.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    for (const item of menu.children) item.ariaChecked = String(radioOf(item.dataset.label).checked);
    goTo(Math.max(0, [...menu.children].findIndex((item) => item.ariaChecked === "true")));
  });
  menu.addEventListener("click", ({ target }) => choose(target.closest("li")));
  root.addEventListener("keydown", (event) => {
    const at = [...menu.children].indexOf(event.target);
    const next = along(event, at, menu.children.length);
    if (at < 0 && event.key === "ArrowDown") menu.showPopover({ source: opener });
    else if (at >= 0 && ["Enter", " "].includes(event.key)) choose(event.target);
    else if (next >= 0) goTo(next);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has a meaning for some of these keys, too
  });
  root.addEventListener("focusout", ({ relatedTarget }) => root.contains(relatedTarget) || menu.hidePopover());

  return ({ choices }) => menu.replaceChildren(...Object.entries(choices).map(([label, question]) =>
    el("li", { role: "menuitemradio", tabindex: "-1", "data-label": label }, el("b", {}, label), el("span", {}, question))));
});
