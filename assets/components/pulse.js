// Nothing to see: by it the page asks the server to draw what is called by its name.
BertExplorer.define("Pulse", ({ trigger, settings }) => {
  window.BertPage?.pulses.set(settings.name, trigger);
  return () => {};
});
