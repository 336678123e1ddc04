"use strict";
// Says what the mark under the pointer, or the one that arrow keys reached, stands for.
(() => {
  const BREAK = "\u2063";
  const ARRAYS = { f4: Float32Array, u1: Uint8Array, i1: Int8Array };
  const tip = document.getElementById("tip");
  const known = new WeakMap();
  let marked = null;

  const hide = () => {
    tip.hidden = true;
    if (marked) marked.classList.remove("here");
    marked = null;
  };

  const show = (text, x, y) => {
    tip.textContent = text.split(BREAK).join("\n");
    tip.hidden = false;
    const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 6);
    const below = y + 16 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(6, left)}px`;
    tip.style.top = `${below ? y + 16 : Math.max(6, y - tip.offsetHeight - 10)}px`;
  };

  const numbers = (image) => {
    if (!known.has(image)) {
      const { z, kind, rows, columns, said } = image.dataset;
      const bytes = Uint8Array.from(atob(z), (letter) => letter.charCodeAt(0));
      known.set(image, {
        values: new ARRAYS[kind](bytes.buffer),
        rows: JSON.parse(rows),
        columns: JSON.parse(columns),
        said: JSON.parse(said),
      });
    }
    return known.get(image);
  };

  const cellText = (image, row, column) => {
    const { values, rows, columns, said } = numbers(image);
    const value = values[row * columns.length + column];
    const shown = said[1] ? value.toFixed(+said[1]) : `${value}`;
    const below = Number.isNaN(value) ? "masked" : `${said[0]}${shown}${said[2]}`;
    return `${rows[row]} → ${columns[column]}${BREAK}${below}`;
  };

  const cellAt = (image, x, y) => {
    const { rows, columns } = numbers(image);
    const box = image.getBoundingClientRect();
    const inside = (share, n) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    return [
      inside((y - box.top) / box.height, rows.length),
      inside((x - box.left) / box.width, columns.length),
    ];
  };

  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const mark = target && target.closest("[data-t]");
    if (mark) return show(mark.dataset.t, event.clientX, event.clientY);
    const image = target && target.closest(".cells");
    if (!image) return hide();
    const [row, column] = cellAt(image, event.clientX, event.clientY);
    return show(cellText(image, row, column), event.clientX, event.clientY);
  });
  document.addEventListener("scroll", hide, true);

  // The keyboard's way: arrows walk from mark to mark, over a map from cell to cell.
  const places = new WeakMap();
  const walkMarks = (picture, step) => {
    const marks = [...picture.querySelectorAll("[data-t]")];
    const last = places.get(picture) ?? (step > 0 ? -1 : 0);
    const next = (last + Math.sign(step) + marks.length) % marks.length;
    places.set(picture, next);
    hide();
    marked = marks[next];
    marked.classList.add("here");
    const box = marked.getBoundingClientRect();
    show(marked.dataset.t, box.left + box.width / 2, box.top + box.height / 2);
  };
  const walkCells = (image, down, across) => {
    const { rows, columns } = numbers(image);
    const [row, column] = places.get(image) ?? [-down, -across];
    const next = [
      Math.min(rows.length - 1, Math.max(0, row + down)),
      Math.min(columns.length - 1, Math.max(0, column + across)),
    ];
    places.set(image, next);
    const box = image.getBoundingClientRect();
    const x = box.left + ((next[1] + 0.5) / columns.length) * box.width;
    const y = box.top + ((next[0] + 0.5) / rows.length) * box.height;
    show(cellText(image, next[0], next[1]), x, y);
  };
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    const picture = document.activeElement && document.activeElement.closest("svg[tabindex]");
    const step = STEPS[event.key];
    if (!picture || !step) return undefined;
    event.preventDefault();
    const image = picture.querySelector(".cells");
    return image ? walkCells(image, step[0], step[1]) : walkMarks(picture, step[0] + step[1]);
  });
  document.addEventListener("focusout", hide);

  // On paper everything is open.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
})();
