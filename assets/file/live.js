// A view that Python keeps alive: a click in its frame is told to Python, which draws the frame again.
export default {
  render({ model, el }) {
    const box = document.createElement("div");
    box.style.position = "relative";
    el.append(box);
    let shown = null;
    let coming = null;

    // The next picture takes the place of the last when it is there, so that nothing flashes.
    function draw() {
      coming?.remove();
      coming = document.createElement("iframe");
      coming.setAttribute("sandbox", "allow-scripts allow-downloads allow-popups");
      coming.title = model.get("title");
      coming.style.cssText = `width:100%;height:${shown?.style.height ?? "600px"};border:0;`;
      if (shown) coming.style.cssText += "position:absolute;inset:0;visibility:hidden;";
      coming.srcdoc = model.get("page");
      box.append(coming);
    }

    function hear({ data, source }) {
      const frame = [shown, coming].find((one) => one && source === one.contentWindow);
      if (!frame || !data?.bertExplorer) return;
      if (!data.height) return frame === shown && model.send({ view: data.view, part: data.part, event: data.event, index: data.index, customdata: data.customdata });
      frame.style.height = `${data.height + 4}px`;
      if (frame !== coming) return;
      shown?.remove();
      frame.style.position = "static";
      frame.style.visibility = "visible";
      [shown, coming] = [frame, null];
    }

    window.addEventListener("message", hear);
    model.on("change:page", draw);
    draw();
    return () => {
      window.removeEventListener("message", hear);
      model.off("change:page", draw);
    };
  },
};
