// The page's part of an explorer. The kernel holds the state and draws; the page sends
// what a hand does, and shows what comes back: one message a frame, two unanswered.

const [UNANSWERED, PATIENCE, REST] = [2, 2500, 500]; // messages, ms, ms
const HIDDEN = { "aria-hidden": "true" };
const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" }; // or JupyterLab takes them

function make(tag, attributes, ...children) {
  const svg = tag === "svg" && "http://www.w3.org/2000/svg";
  const element = svg ? document.createElementNS(svg, tag) : document.createElement(tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...children);
  return element;
}

// Each control: what stands in the page, what takes the focus, and how it is put.
function slider({ label, low, high, step, sample }, id, moved) {
  const decimals = String(step).split(".")[1]?.length ?? 0;
  const limits = { min: low, max: high, step };
  const range = make("input", { type: "range", id, ...limits, ...OWN_KEYS });
  const typed = { type: "text", inputmode: "decimal", "aria-label": `${label}, typed` };
  const field = make("input", { ...typed, ...OWN_KEYS });
  const name = make("label", { for: id }, label);
  if (sample) name.prepend(make("svg", { viewBox: "0 0 30 12", ...HIDDEN }));
  if (sample) name.firstChild.innerHTML = sample;
  const say = () => { field.value = Number(range.value).toFixed(decimals); };
  const move = () => { say(); moved(Number(range.value)); };
  range.oninput = move;
  field.onchange = () => {
    const number = field.value.trim().replace("−", "-").replace(",", ".");
    if (!number || !Number.isFinite(Number(number))) return say();
    range.value = number; // which keeps to its ends and steps
    move();
  };
  field.onkeydown = ({ key }) => { if (key === "Enter") field.onchange(); };
  const put = (at) => { range.value = at; if (!field.matches(":focus")) say(); };
  const box = make("div", { class: "lab-slider" }, name, range, field);
  return { box, inputs: [range, field], put };
}

function choice({ label, options }, id, moved) {
  const inputs = options.map(() => make("input", { type: "radio", name: id, ...OWN_KEYS }));
  inputs.forEach((input, at) => { input.onchange = () => moved(at); });
  const named = inputs.map((input, at) => make("label", {}, input, options[at][0]));
  const box = make("fieldset", {}, make("legend", {}, label), ...named);
  return { box, inputs, put: (at) => { inputs[at].checked = true; } };
}

function render({ model, el }) {
  const stage = model.get("_stage");
  const view = `lab-${Math.random().toString(36).slice(2)}`;
  let queue = []; // what waits until fewer messages are on their way
  let [sent, heard, shown, framed, gone, patience, rest] = [0, 0, 0, false, false, 0, 0];

  const controls = stage.controls.map((spec, which) => {
    const control = (spec.options.length ? choice : slider)(spec, `${view}-${which}`, (at) => {
      control.due = sent + 1; // an earlier answer knows nothing of this
      push("set", which, at);
    });
    return Object.assign(control, { name: spec.name, due: 0 });
  });
  const reset = make("button", { type: "button", ...OWN_KEYS }, "Reset");
  reset.onclick = () => { queue = []; push("reset"); };
  const [wide, high] = stage.size;
  // As an image what stands still costs a move nothing.
  const whole = encodeURIComponent(`${stage.root}${stage.still}</svg>`);
  const still = make("img", { src: `data:image/svg+xml,${whole}`, alt: "" });
  const moving = make("svg", { viewBox: `0 0 ${wide} ${high}`, ...HIDDEN });
  const picture = make("div", { class: "lab-picture", role: "img" }, still, moving);
  const handles = stage.handles.map(handle);
  const words = make("p", { id: `${view}-words`, ...HIDDEN });
  const status = make("div", { class: "lab-status", role: "status" });
  const explorer = make("div",
    { class: "lab-explorer", role: "group", "aria-label": stage.title },
    make("div", { class: "lab-head" }, make("strong", {}, stage.title), reset),
    make("div", { class: "lab-controls" }, ...controls.map(({ box }) => box)),
    make("div", { class: "lab-stage" }, picture, ...handles), words, status);
  explorer.style.setProperty("--lab-width", `${stage.width}px`);
  el.classList.add("lab-room");
  el.append(explorer);

  function own(svg) { // or two pictures of a page share their ids
    const named = (text, mark) => text.replaceAll(mark, `${mark}${view}-`);
    return [' id="', "url(#", 'href="#'].reduce(named, svg);
  }

  // From the hand to the kernel.
  function push(kind, which, ...at) {
    const [last] = queue.slice(-1);
    if (kind !== "press" && last?.[0] === kind && last[1] === which) queue.pop();
    queue.push([kind, which, ...at]);
    send();
  }

  function send() {
    explorer.dataset.waits = sent - heard + queue.length;
    if (framed || !queue.length || sent - heard >= UNANSWERED) return;
    framed = true;
    requestAnimationFrame(() => { framed = false; send(); });
    try {
      if (gone) throw gone;
      model.send({ view, n: sent + 1, steps: queue });
      [sent, queue] = [sent + 1, []];
      patience ||= setTimeout(lost, PATIENCE);
    } catch { // the line to the kernel is closed
      lost();
    }
    explorer.dataset.waits = sent - heard;
  }

  function lost() {
    patience = 0;
    if (!gone && model.widget_manager?.kernel?.status === "busy") {
      return say("No answer yet, so the picture is grey: the kernel is busy.", "stale");
    }
    [sent, queue] = [heard, []];
    const prompt = el.closest(".jp-Cell")?.querySelector(".jp-InputPrompt")?.textContent;
    const cell = prompt ? `, ${prompt.replace(":", "")},` : "";
    say("No kernel answers, so the picture is grey: run this cell"
      + `${cell} again, after a restart the cells above it first.`, "lost");
  }

  // From the kernel to the eye.
  function show() {
    const now = model.get("_now");
    if (now.n <= shown) return;
    shown = now.n;
    if (now.answers?.[0] === view) {
      heard = now.answers[1];
      clearTimeout(patience);
      patience = sent > heard ? setTimeout(lost, PATIENCE) : 0;
    }
    moving.innerHTML = own(now.moving);
    controls.forEach(({ due, put }, which) => { if (heard >= due) put(now.values[which]); });
    handles.forEach((grip, which) => place(grip, stage.handles[which].box ?? now.handles[which]));
    say(now.words, now.true ? "true" : "stale");
    send();
  }

  function say(text, is) {
    words.textContent = text;
    picture.setAttribute("aria-label", text);
    if (explorer.dataset.is !== is) {
      explorer.dataset.is = is;
      for (const input of [reset, ...controls.flatMap(({ inputs }) => inputs)]) {
        input.setAttribute("aria-disabled", is === "lost");
        input.setAttribute("aria-describedby", is === "lost" ? words.id : "");
      }
    }
    clearTimeout(rest);
    rest = setTimeout(readOut, REST);
  }

  function readOut() { // once, when the hand rests
    if (explorer.querySelector(":active, .lab-held")) rest = setTimeout(readOut, REST);
    else if (status.textContent !== words.textContent) status.textContent = words.textContent;
  }

  // The hand in the picture.
  function place(grip, at) {
    grip.hidden = !at;
    if (at) grip.style.translate = `${100 * at[0]}cqw ${-100 * at[1] * (high / wide)}cqw`;
  }

  function handle({ name, box, presses }, which) {
    const grip = make("div", { class: box ? "lab-zone" : "lab-handle" });
    if (box) [grip.style.width, grip.style.height] = [`${100 * box[2]}%`, `${100 * box[3]}%`];
    let off = [0, 0];
    const push_at = (kind, { clientX, clientY }) => {
      const { left, bottom, width, height } = picture.getBoundingClientRect();
      push(kind, which, (clientX - off[0] - left) / width, (bottom - clientY + off[1]) / height);
    };
    grip.onpointerdown = (event) => {
      if (event.button) return;
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      grip.classList.add("lab-held");
      const { left, top, width, height } = grip.getBoundingClientRect();
      const middle = [left + width / 2, top + height / 2]; // it is seldom held just there
      off = box ? [0, 0] : [event.clientX - middle[0], event.clientY - middle[1]];
      controls.find((control) => control.name === name)?.inputs[0].focus({ preventScroll: true });
      if (box || presses) push_at("press", event);
    };
    grip.onpointermove = (event) => { if (grip.matches(".lab-held")) push_at("move", event); };
    grip.onlostpointercapture = () => grip.classList.remove("lab-held");
    return grip;
  }

  explorer.addEventListener("focusin", ({ target }) => {
    const { name } = controls.find(({ inputs }) => inputs.includes(target)) ?? {};
    handles.forEach((grip, i) => grip.classList.toggle("lab-lit", stage.handles[i].name === name));
  });

  // JupyterLab would have moves answered in a thread that no interrupt reaches.
  model.widget_manager?.get_model(stage.id).then(({ comm }) => {
    if (comm?.jsServicesComm) comm.jsServicesComm.commsOverSubshells = "disabled";
  });
  model.on("change:_now", show);
  show();
  return () => { gone = true; lost(); }; // the model went: its kernel did, or its cell ran again
}

export default { render };
