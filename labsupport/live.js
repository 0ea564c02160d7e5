// The page's part of an explorer. The kernel holds the state and draws; the page sends
// what a hand does, one message a frame and two unanswered at most, and shows what
// comes back. What is newer than the messages on their way waits in `queue`.

const UNANSWERED = 2;
const PATIENCE = 2500; // ms without an answer until the page says so
const REST = 500; // ms without a change until the words are read out
const A_DRAG = 3; // px: what moves less was a click
const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" }; // or JupyterLab takes them

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...children);
  return element;
}

function drawing(viewBox) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", viewBox);
  return svg;
}

function slider({ label, low, high, step, whole, sample }, id, change) {
  const decimals = whole ? 0 : String(step).split(".")[1].length;
  const said = () => Number(range.value).toFixed(decimals);
  const range = make("input", { type: "range", id, min: low, max: high, step, ...OWN_KEYS });
  const field = make("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": `${label}, typed`,
    ...OWN_KEYS,
  });
  const name = make("label", { for: id }, label);
  if (sample) {
    name.prepend(drawing("0 0 34 12"));
    name.firstChild.innerHTML = sample;
  }
  range.oninput = () => {
    field.value = said();
    change(Number(range.value));
  };
  field.onchange = () => {
    const typed = field.value.trim().replace("−", "-").replace(",", ".");
    if (typed && Number.isFinite(Number(typed))) {
      range.value = typed; // which brings it to the slider's ends and steps
      change(Number(range.value));
    }
    field.value = said();
  };
  field.onkeydown = (event) => {
    if (event.key === "Escape") field.value = said();
  };
  return {
    box: make("div", { class: "lab-slider" }, name, field, range),
    inputs: [range, field],
    show(value) {
      range.value = value;
      if (!field.matches(":focus")) field.value = said();
    },
  };
}

function choice({ label, options }, id, change) {
  if (options.length > 4) {
    const list = make("select", { id, ...OWN_KEYS });
    list.append(...options.map((option) => make("option", {}, option)));
    list.onchange = () => change(list.selectedIndex);
    return {
      box: make("div", { class: "lab-choice" }, make("label", { for: id }, label), list),
      inputs: [list],
      show: (index) => { list.selectedIndex = index; },
    };
  }
  const buttons = options.map((option, index) => {
    const button = make("input", { type: "radio", name: id, ...OWN_KEYS });
    button.onchange = () => change(index);
    return [button, make("label", {}, button, option)];
  });
  return {
    box: make("fieldset", { class: "lab-choice" }, make("legend", {}, label),
      ...buttons.map(([, named]) => named)),
    inputs: buttons.map(([button]) => button),
    show: (index) => { buttons[index][0].checked = true; },
  };
}

function render({ model, el }) {
  const stage = model.get("_stage");
  const view = `lab-${Math.random().toString(36).slice(2)}`;
  let queue = [];
  let [sent, heard, shown] = [0, 0, 0];
  let [gate, patience, rest, gone, pressed] = [false, 0, 0, false, false];

  // What stands in the page.
  const controls = {};
  stage.names.forEach((name, row) => {
    controls[name] = stage.controls[row].map((spec, which) => {
      const kind = spec.options ? choice : slider;
      const control = kind(spec, `${view}-${row}-${which}`, (value) => {
        control.due = sent + 1; // an answer to less says nothing of this control
        push("set", name, which, value);
      });
      control.due = 0;
      return control;
    });
  });
  const hand = Object.values(controls).flat();
  const reset = make("button", { type: "button", ...OWN_KEYS }, "Reset");
  reset.onclick = () => {
    queue = [];
    push("reset");
  };
  const still = drawing(stage.viewBox);
  const moving = drawing(stage.viewBox);
  const picture = make("div", { class: "lab-picture", role: "img" }, still, moving);
  const handles = stage.handles.map(handle);
  const words = make("p", { class: "lab-words", id: `${view}-words`, "aria-hidden": "true" });
  const status = make("div", { class: "lab-status", role: "status" });
  const explorer = make("div", { class: "lab-explorer", role: "group", "aria-label": stage.title },
    make("div", { class: "lab-head" }, make("strong", {}, stage.title), reset),
    make("div", { class: "lab-controls" }, ...hand.map((control) => control.box)),
    make("div", { class: "lab-stage" }, picture, ...handles),
    words, status);
  explorer.style.setProperty("--lab-width", `${stage.width}px`);
  still.innerHTML = own(stage.background, "still");
  el.classList.add("lab-room");
  el.append(explorer);

  function own(svg, layer) {
    const mine = `${view}-${layer}-`; // or two pictures of a page share their ids
    return svg.replaceAll(' id="', ` id="${mine}`).replaceAll("url(#", `url(#${mine}`)
      .replaceAll('href="#', `href="#${mine}`);
  }

  // From the hand to the kernel.
  function push(...step) {
    const last = queue.at(-1);
    const target = (one) => one.slice(0, one[0] === "set" ? 3 : 2).join();
    if (last && step[0] !== "press" && target(last) === target(step)) queue.pop();
    queue.push(step);
    send();
  }

  function send() {
    if (gone) return lost();
    if (gate || !queue.length || sent - heard >= UNANSWERED) return;
    gate = true;
    requestAnimationFrame(() => {
      gate = false;
      send();
    });
    model.send({ view, n: ++sent, steps: queue });
    queue = [];
    patience ||= setTimeout(lost, PATIENCE);
  }

  // From the kernel to the eye.
  function show() {
    const now = model.get("_now");
    if (now.n <= shown) return;
    shown = now.n;
    if (now.answers[0] === view) {
      heard = Math.max(heard, now.answers[1]);
      clearTimeout(patience);
      patience = sent > heard ? setTimeout(lost, PATIENCE) : 0;
    }
    moving.innerHTML = own(now.moving, "moving");
    stage.names.forEach((name, row) => controls[name].forEach((control, which) => {
      if (heard >= control.due) control.show(now.values[row][which]);
    }));
    now.handles.forEach((at, which) => {
      if (stage.handles[which].box) return;
      handles[which].hidden = !at;
      if (at) place(handles[which], at);
    });
    say(now.words, now.true);
    send();
  }

  function say(text, isTrue) {
    words.textContent = text;
    picture.setAttribute("aria-label", text);
    explorer.classList.toggle("lab-stale", !isTrue);
    clearTimeout(rest);
    rest = setTimeout(readOut, REST);
  }

  function readOut() {
    if (!pressed && status.textContent !== words.textContent) status.textContent = words.textContent;
  }

  function lost() {
    patience = 0;
    const busy = !gone && model.widget_manager?.kernel?.status === "busy";
    if (!busy) [sent, queue] = [heard, []];
    const cell = stage.cell ? `, [${stage.cell}],` : "";
    say(busy
      ? "No answer yet, so the picture is grey: the kernel is busy."
      : `No kernel answers, so the picture is grey: run this cell${cell} again, after a `
        + "restart the cells above it first.", false);
  }

  // The hand in the picture.
  function place(grip, [x, y]) {
    grip.style.left = `${100 * x}%`;
    grip.style.top = `${100 * y}%`;
  }

  function handle({ name, box, presses }, which) {
    const grip = make("div", { class: box ? "lab-zone" : "lab-handle" });
    if (box) {
      place(grip, box);
      grip.style.width = `${100 * box[2]}%`;
      grip.style.height = `${100 * box[3]}%`;
    }
    let from = null;
    let off = [0, 0];
    const point = ({ clientX, clientY }) => {
      const { left, top, width, height } = picture.getBoundingClientRect();
      return [(clientX - left) / width - off[0], (clientY - top) / height - off[1]];
    };
    grip.onpointerdown = (event) => {
      if (event.button) return;
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      from = event;
      off = [0, 0];
      if (!box) { // it is seldom taken hold of in its very middle
        const at = point(event);
        off = [at[0] - parseFloat(grip.style.left) / 100, at[1] - parseFloat(grip.style.top) / 100];
      }
      controls[name]?.[0].inputs[0].focus({ preventScroll: true });
      if (presses) push("press", which, ...point(event));
    };
    grip.onpointermove = (event) => {
      if (!from) return;
      const far = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY);
      if (far < A_DRAG && !grip.classList.contains("lab-held")) return;
      grip.classList.add("lab-held");
      push("move", which, ...point(event));
    };
    grip.onlostpointercapture = () => {
      from = null;
      grip.classList.remove("lab-held");
    };
    return grip;
  }

  explorer.addEventListener("focusin", ({ target }) => stage.handles.forEach(({ name }, which) => {
    const lit = controls[name]?.some((control) => control.inputs.includes(target));
    handles[which].classList.toggle("lab-lit", Boolean(lit));
  }));
  explorer.addEventListener("focusout", () => handles.forEach((grip) => grip.classList.remove("lab-lit")));
  explorer.addEventListener("pointerdown", () => { pressed = true; });
  const released = () => {
    pressed = false;
    clearTimeout(rest);
    rest = setTimeout(readOut, REST);
  };
  addEventListener("pointerup", released);
  addEventListener("pointercancel", released);

  model.on("change:_now", show);
  show();
  return () => {
    // The model is gone: with its kernel, or because the cell ran again.
    gone = true;
    removeEventListener("pointerup", released);
    removeEventListener("pointercancel", released);
    lost();
  };
}

export default { render };
