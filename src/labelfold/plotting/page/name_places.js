// Places for class names on a map, and short forms of long names.
"use strict";

const NAME_GAP = 9; // pixels between an anchor and its name
const NAME_HEIGHT = 22; // with its padding of 2 pixels on each side

function measureNames(texts) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "bold 15px system-ui, sans-serif";
  return texts.map((text) => pen.measureText(text).width + 4);
}

// Place each name above its anchor, otherwise below, within the frame; a name that would cover
// another gets no place. Offsets are from the anchor to the middle of the name's lower edge.
function placeNames(names, { left, right, top, bottom }) {
  const covers = (one, other) =>
    one.start < other.end && other.start < one.end && one.high < other.low && other.high < one.low;
  const taken = [];
  const plan = { right: [], down: [], isWritten: [] };
  for (const { across, anchor, width, isWanted } of names) {
    const start = Math.max(left, Math.min(across - width / 2, right - width));
    const places = [-NAME_GAP, NAME_GAP + NAME_HEIGHT].map((down) => {
      const low = anchor + down;
      return { down, start, end: start + width, high: low - NAME_HEIGHT, low };
    });
    const isFree = (one) => top <= one.high && one.low <= bottom && !taken.some((other) => covers(one, other));
    const isInside = left <= across && across <= right && top <= anchor && anchor <= bottom;
    const free = isWanted && isInside ? places.find(isFree) : undefined;
    if (free !== undefined) taken.push(free);
    plan.right.push(start + width / 2 - across);
    plan.down.push((free ?? places[0]).down);
    plan.isWritten.push(free !== undefined);
  }
  return plan;
}

// A name on one line of so many letters, cut in the middle: the end often distinguishes classes.
function cutInMiddle(name, most) {
  const letters = [...name.trim().replace(/\s+/g, " ")];
  const tail = Math.floor(most / 2) - 1;
  if (letters.length > most) letters.splice(most - tail - 1, letters.length - most + 1, "…");
  return letters.join("");
}
