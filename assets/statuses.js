// What Gradio's front end does for the states of calls, without what it does again and again for nothing.

// Whatever has ended counts as a stream that is closed, of which it notes something for every input, and keeps it. At each step
// of every call it goes through all that it keeps, and looks for each in the whole page: once all tabs were opened, that was
// half of what a click cost. Nothing shows what is noted of an input; what shows how far work is, is noted as before.
BertPage.keepNoInputs = async function () {
  const parts = Object.values(await import(new URL(this.STATUSES, document.baseURI)).catch(() => ({}))); // else Gradio tells
  const kind = parts.find((part) => part?.LoadingStatus)?.LoadingStatus.prototype;
  if (!kind?.resolve_args) return; // in another Gradio; the page is slower then
  const told = kind.resolve_args;
  kind.resolve_args = function (status) {
    return told.call(this, { ...status, stream_state: null }); // the page has nothing that streams
  };
};

// The tenths of a second that something takes are counted at every frame, and those that the page takes to come are counted on
// when it is there: a browser that has nothing to do would make sixty frames a second for as long as the page is open.
BertPage.TENTHS = /^\(\)=>\{[\w$]+\([\w$]+,\(performance\.now\(\)-[\w$]+\([\w$]+\)\)\/1e3\),[\w$]+&&[\w$]+\(\)\}$/;
BertPage.countTenths = function () {
  const { TENTHS } = this;
  const frame = window.requestAnimationFrame;
  window.requestAnimationFrame = (call) => (TENTHS.test(call) ? setTimeout(call, 100) : frame.call(window, call));
};
BertPage.countTenths();

document.addEventListener("DOMContentLoaded", () => BertPage.STATUSES && BertPage.keepNoInputs()); // Gradio's own begin before
