// Nothing to see: by it the page asks the server to draw what is called by its name, and hears that more is to come.
BertExplorer.define("Pulse", ({ trigger, props, settings }) => {
  window.BertPage?.pulses.set(settings.name, trigger);
  let told = props.value;
  return () => {
    if (props.value && props.value !== told) window.BertPage?.more(settings.name);
    told = props.value;
  };
});
