// A vector as a strip on a canvas: one small rectangle a number, blue above 0, orange below, `top` or more in full colour.
BertExplorer.paintVector = (canvas, vector, top) => {
  const [plus, minus] = ["positive", "negative"].map((sign) => BertExplorer.rgb(BertExplorer.css(`--bx-${sign}`)));
  const start = BertExplorer.background();
  const context = canvas.getContext("2d");
  const image = context.createImageData(vector.length, 1);
  vector.forEach((number, i) => {
    const share = Math.min(1, Math.abs(number) / top);
    const end = number < 0 ? minus : plus;
    const colour = start.map((from, k) => Math.round(from + (end[k] - from) * share));
    image.data.set([...colour, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
};
