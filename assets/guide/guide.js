// The guide is as light or dark as the page that led to it, else as the system.

const root = document.documentElement;
const asked = new URLSearchParams(location.search).get("__theme");
const system = matchMedia("(prefers-color-scheme: dark)");
let theme = asked;
try {
  if (asked) sessionStorage.setItem("bert-guide-theme", asked);
  theme = sessionStorage.getItem("bert-guide-theme");
} catch { /* a browser that keeps nothing */ }
const show = () => root.classList.toggle("dark", theme ? theme === "dark" : system.matches);
show();
system.addEventListener("change", show);

addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = root.classList.contains("dark") ? "light" : "dark";
    try {
      sessionStorage.setItem("bert-guide-theme", theme);
    } catch { /* it lasts until the page is left */ }
    show();
  });
});
