// Places for class names on a map: where each class lies, and boxes that never overlap.

const LONGEST = 32; // characters
const SAMPLE = 4000; // points of a class that its place is computed from
export const NAME_FONT = "600 14px system-ui, sans-serif";
const HEIGHT = 20; // pixels of a line
const GAP = 8; // between the anchor and its name

// A name on one line, cut in the middle: the end often distinguishes classes.
export function shorten(name, longest = LONGEST) {
  const letters = [...name.trim().replace(/\s+/g, " ")];
  const tail = Math.floor(longest / 2) - 1;
  if (letters.length > longest) letters.splice(longest - tail - 1, letters.length - longest + 1, "…");
  return letters.join("");
}

// For each class, the one of its points that is nearest to their median; null for a class without points. The median
// itself will not do: for a class in two clusters it may lie between them.
export function findAnchors(position, codes, nClasses) {
  const members = Array.from({ length: nClasses }, () => []);
  for (let i = 0; i < codes.length; i++) if (codes[i] >= 0) members[codes[i]].push(i);
  return members.map((all) => {
    if (all.length === 0) return null;
    const step = Math.ceil(all.length / SAMPLE);
    const some = all.filter((_, k) => k % step === 0);
    const middle = [0, 1].map((axis) => Float32Array.from(some, (i) => position[2 * i + axis]).sort()[some.length >> 1]);
    const away = (i) => (position[2 * i] - middle[0]) ** 2 + (position[2 * i + 1] - middle[1]) ** 2;
    const best = some.reduce((one, other) => (away(other) < away(one) ? other : one));
    return [position[2 * best], position[2 * best + 1]];
  });
}

// Place each name above its anchor, otherwise below, right or left, inside the frame; a name that would cover another
// or a taken box gets no place. Names are { x, y, width }, places boxes of left, top, right and bottom, or null.
export function placeNames(names, width, height, taken) {
  const boxes = [...taken];
  return names.map(({ x, y, width: wide }) => {
    if (x < 0 || y < 0 || x > width || y > height) return null;
    const beside = y - HEIGHT / 2;
    const starts = [[x - wide / 2, y - GAP - HEIGHT], [x - wide / 2, y + GAP], [x + GAP, beside], [x - GAP - wide, beside]];
    const places = starts.map(([left, top]) => {
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
