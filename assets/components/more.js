// The choices of a tab that are not beside its question: a menu with the question that each one answers.
import { along } from "../arithmetic/moves.js";
import { el, plain, rove } from "../shared/dom.js";
import { define } from "../shared/mounting.js";

const EDGE = 12; // px between the menu and the edge of the window

define("More", ({ element, props }) => {
  const root = element.querySelector(".bx-more");
  const opener = el("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false" }, "More");
  const menu = el("ul", { role: "menu", "aria-label": "More", hidden: "" });
  root.append(opener, menu);

  const radios = () => [...document.getElementById(props.value.of).querySelectorAll("input")];
  const radioOf = (label) => radios().find((radio) => radio.closest("label").textContent.trim() === label);

  function show(open) {
    menu.hidden = !open;
    opener.ariaExpanded = String(open);
    if (!open) return;
    for (const item of menu.children) item.ariaChecked = String(radioOf(item.dataset.label).checked);
    menu.style.left = "0";
    const { right } = menu.getBoundingClientRect();
    menu.style.left = `${Math.min(0, document.documentElement.clientWidth - EDGE - right)}px`;
    goTo(Math.max(0, [...menu.children].findIndex((item) => item.ariaChecked === "true")));
  }

  function goTo(number) {
    rove([...menu.children], number);
    menu.children[number].focus({ preventScroll: true });
    menu.children[number].scrollIntoView({ block: "nearest" });
  }

  function choose(label) {
    show(false);
    const radio = radioOf(label);
    radio.click();
    radio.focus();
  }

  opener.addEventListener("click", () => show(menu.hidden));
  menu.addEventListener("click", ({ target }) => choose(target.closest("li").dataset.label));
  root.addEventListener("keydown", (event) => {
    const at = [...menu.children].indexOf(event.target);
    if (event.key === "Escape" && !menu.hidden) {
      show(false);
      opener.focus();
    } else if (at < 0 && event.key === "ArrowDown") show(true);
    else if (at >= 0 && ["Enter", " "].includes(event.key)) choose(event.target.dataset.label);
    else if (along(event, at, menu.children.length) >= 0) goTo(along(event, at, menu.children.length));
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has a meaning for some of these keys, too
  });
  root.addEventListener("focusout", ({ relatedTarget }) => root.contains(relatedTarget) || show(false));

  return function draw() {
    const choices = Object.entries(plain(props.value).choices);
    menu.replaceChildren(...choices.map(([label, question]) =>
      el("li", { role: "menuitemradio", tabindex: "-1", "data-label": label }, el("b", {}, label), el("span", {}, question))));
  };
});
