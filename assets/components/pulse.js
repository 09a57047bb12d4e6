// Invisible: by its name, the page asks the server for a drawing; its value tells that some parts are still to come.
BertExplorer.define("Pulse", ({ trigger, props, settings }) => {
  window.BertPage?.pulses.set(settings.name, trigger);
  let told = props.value;
  return () => {
    if (props.value && props.value !== told) window.BertPage?.more(settings.name);
    told = props.value;
  };
});
