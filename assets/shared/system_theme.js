// Pages of ours beside the app are as light or dark as the system, at every moment.

/** Dress this page so. */
export function followSystem() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => document.body.classList.toggle("dark", system.matches);
  system.addEventListener("change", dress);
  dress();
}
