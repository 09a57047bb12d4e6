// Gradio calls what has ended a stream that is closed, notes that of every input of the call, and keeps it. At each step of
// every call it goes through all that it keeps, and looks for each in the whole page: once all tabs were opened, that was half
// of what a click cost. Nothing shows what is noted of an input; what shows how far work is, is noted as before.
BertPage.keepNoInputs = async function () {
  const parts = Object.values(await import(new URL(this.STATUSES, document.baseURI)));
  const kind = parts.find((part) => part?.LoadingStatus)?.LoadingStatus.prototype;
  if (!kind?.resolve_args) return; // in another Gradio; the page is slower then
  const told = kind.resolve_args;
  kind.resolve_args = function (status) {
    return told.call(this, { ...status, stream_state: null }); // the page has nothing that streams
  };
};

document.addEventListener("DOMContentLoaded", () => BertPage.STATUSES && BertPage.keepNoInputs()); // Gradio's own begin before
