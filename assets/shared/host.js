// What the app's page does for components that may also stand alone, in a file, in a notebook or on a phone.

/** `page`: functions that assets/app.js sets; null where there is no app around the components. */
export const host = { page: null };
