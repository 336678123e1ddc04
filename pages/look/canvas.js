// A place to draw on. What is drawn is kept here and told after each stroke; what the page says of it
// counts when the place is made, so that an answer that comes late never takes back a stroke.
const places = new WeakMap();
const STEP = 2; // points of the canvas between two places of a stroke

export default function ({ data, parentElement, setStateValue }) {
  const canvas = parentElement.querySelector("canvas");
  const [undo, clear] = parentElement.querySelectorAll("button");
  if (!places.has(canvas)) places.set(canvas, { strokes: data.strokes.map(one => [...one]), pen: null });
  const place = places.get(canvas);
  const pencil = canvas.getContext("2d");

  const count = () => place.strokes.reduce((sum, one) => sum + one.length / 2, 0);
  const isFull = () => place.strokes.length >= data.most_strokes || count() >= data.most_points;

  const draw = () => {
    pencil.fillStyle = "#000";
    pencil.fillRect(0, 0, canvas.width, canvas.height);
    pencil.strokeStyle = "#fff";
    pencil.lineWidth = data.pen;
    pencil.lineCap = pencil.lineJoin = "round";
    for (const stroke of place.strokes) {
      pencil.beginPath();
      pencil.moveTo(stroke[0], stroke[1]);
      for (let i = 0; i < stroke.length; i += 2) pencil.lineTo(stroke[i], stroke[i + 1]);
      pencil.stroke();
    }
    undo.disabled = clear.disabled = !place.strokes.length;
  };

  const tell = () => {
    draw();
    setStateValue("strokes", place.strokes);
  };

  const at = event => {
    const box = canvas.getBoundingClientRect();
    const on = (value, start, length) =>
      Math.max(0, Math.min(canvas.width, Math.round(((value - start) / length) * canvas.width)));
    return [on(event.clientX, box.left, box.width), on(event.clientY, box.top, box.height)];
  };

  canvas.onpointerdown = event => {
    if (event.button !== 0 || place.pen !== null || isFull()) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    place.pen = event.pointerId;
    place.strokes.push(at(event));
    draw();
  };

  canvas.onpointermove = event => {
    if (event.pointerId !== place.pen) return;
    const stroke = place.strokes.at(-1);
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const [x, y] = at(one);
      const far = Math.hypot(x - stroke.at(-2), y - stroke.at(-1)) >= STEP;
      if (far && count() < data.most_points) stroke.push(x, y);
    }
    draw();
  };

  canvas.onpointerup = canvas.onpointercancel = event => {
    if (event.pointerId !== place.pen) return;
    place.pen = null;
    tell();
  };

  undo.onclick = () => {
    place.strokes.pop();
    tell();
  };

  clear.onclick = () => {
    place.strokes.length = 0;
    tell();
  };

  draw();
}
