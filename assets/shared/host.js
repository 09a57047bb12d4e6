// What the app's page does for components that may also stand alone, in a file, in a notebook or on a phone.

/**
 * @typedef {object} Page
 * @property {(chosen: Record<string, any>) => void} draw have the open view drawn, with what was chosen
 * @property {(tab: string, choice?: string) => void} open open another tab
 * @property {(chosen: Record<string, any>) => void} wish choose for the next drawing
 * @property {() => string | null} query of the link to what is shown; "" if no link can hold it
 * @property {() => void} resume go on after a lost connection
 * @property {(name: string, query: string) => string} file the address of a file of what a link shows
 * @property {(address: string, said: HTMLElement) => Promise<void>} save save such a file, and say so
 * @property {(text: Element) => void} markFinding mark the terms of the glossary in a sentence about the input
 * @property {string} noLink the sentence for a view that no link can hold
 */

/** @type {{page: Page | null}} `page` is null where there is no app around the components. */
export const host = { page: null };
