// What gives an answer away is taken out of the document: nobody sees it, and no search, screen reader or tooltip finds it.

const owners = new Map(); // by the fragment that keeps the contents of an element: the element
const contents = new WeakMap(); // the other way round
/** The outline of the cell that a finding is about: `withheld` says whether pictures leave it out. */
export const telling = {
  withheld: false,
  withhold(now) {
    if (telling.withheld === now) return;
    telling.withheld = now;
    document.dispatchEvent(new Event("bert:telling"));
  },
};
/** Sees what changes in withheld contents; a page that withholds nothing has none. */
export const watcher = { observe: (_fragment) => {} };

/** Take the contents of an element out of the document, but for its cover. It keeps its height. */
export function withhold(element) {
  if (contents.has(element)) return;
  const height = element.getBoundingClientRect().height || parseInt(element.querySelector(".bx-chart")?.style.height ?? "0");
  const fragment = document.createDocumentFragment();
  fragment.append(...[...element.childNodes].filter((one) => !(one instanceof Element && one.matches(".bx-cover"))));
  contents.set(element, fragment);
  owners.set(fragment, element);
  element.dataset.withheld = "yes";
  if (height) element.style.setProperty("--bx-withheld", `${height}px`);
  watcher.observe(fragment);
}

/** Put them back, as they are now, and have them drawn for the size they have there. */
export function giveBack(element) {
  const fragment = contents.get(element);
  if (!fragment) return;
  contents.delete(element);
  owners.delete(fragment);
  delete element.dataset.withheld;
  element.style.removeProperty("--bx-withheld");
  element.prepend(fragment);
  if (element.offsetHeight) for (const one of element.querySelectorAll(".bx")) one.dispatchEvent(new Event("bx-back", { bubbles: true }));
}

/** The contents of an element, also while they are withheld. */
export const contentsOf = (element) => contents.get(element) ?? element;

/** The element in the document around a withheld node; the node itself if it is not withheld. */
export const ownerOf = (node) => owners.get(node.getRootNode()) ?? node;

/** Whether a node was removed from the page, rather than withheld. */
export function isGone(node) {
  if (node.isConnected) return false;
  const owner = owners.get(node.getRootNode());
  return !owner || isGone(owner);
}
