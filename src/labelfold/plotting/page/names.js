// Class names on a map: short forms, and places that never overlap.

const LONGEST = 32; // characters
export const NAME_FONT = "600 14px system-ui, sans-serif";
const [HEIGHT, GAP] = [20, 11]; // pixels of a line, and between an anchor and its name

// A name on one line, cut in the middle: the end often distinguishes classes.
export function shorten(name, longest = LONGEST) {
  const letters = [...name.trim().replace(/\s+/g, " ")];
  const tail = Math.floor(longest / 2) - 1;
  if (letters.length > longest) letters.splice(longest - tail - 1, letters.length - longest + 1, "…");
  return letters.join("");
}

// Place each name above its anchor, otherwise below, right or left, inside the frame; a name that would cover another
// or a taken box gets no place. Names are { x, y, width }, places boxes of left, top, right and bottom, or null.
export function placeNames(names, width, height, taken) {
  const boxes = [...taken];
  return names.map(({ x, y, width: wide }) => {
    if (x < 0 || y < 0 || x > width || y > height) return null;
    const beside = y - HEIGHT / 2;
    const [above, below] = [[x - wide / 2, y - GAP - HEIGHT], [x - wide / 2, y + GAP]];
    const places = [above, below, [x + GAP, beside], [x - GAP - wide, beside]].map(([left, top]) => {
      const start = Math.max(2, Math.min(left, width - wide - 2));
      return [start, top, start + wide, top + HEIGHT];
    });
    const isFree = (one) =>
      one[1] >= 0 && one[3] <= height &&
      !boxes.some((other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]);
    const place = places.find(isFree) ?? null;
    if (place !== null) boxes.push(place);
    return place;
  });
}
