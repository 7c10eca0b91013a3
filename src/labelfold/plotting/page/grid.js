// Points by place: the nearest one through a grid of cells, and those within a polygon.

const PER_CELL = 4; // points, on average

export class Grid {
  constructor(position) {
    const n = position.length / 2;
    this.position = position;
    this.side = Math.max(1, Math.ceil(Math.sqrt(n / PER_CELL)));
    const [low, high] = bounds(position);
    this.low = low;
    this.cell = [0, 1].map((axis) => (high[axis] - low[axis]) / this.side || 1);
    // Counting sort: the points of cell c are items[starts[c]] to items[starts[c + 1] - 1].
    const cells = new Uint32Array(n);
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < n; i++) {
      cells[i] = this.index(position[2 * i + 1], 1) * this.side + this.index(position[2 * i], 0);
      this.starts[cells[i] + 1]++;
    }
    for (let c = 0; c < this.side * this.side; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice(0, -1);
    this.items = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.items[next[cells[i]]++] = i;
  }

  index(value, axis) {
    return Math.max(0, Math.min(this.side - 1, Math.floor((value - this.low[axis]) / this.cell[axis])));
  }

  // The point nearest to x and y that the mask allows, up to `reach` pixels away, the last of equals; otherwise null.
  nearest(x, y, scale, reach, mask) {
    const { position, items, starts, side } = this;
    const [across, up] = [reach / scale[0], reach / scale[1]];
    const [first, last] = [this.index(x - across, 0), this.index(x + across, 0)];
    let [best, found] = [reach * reach, null];
    for (let row = this.index(y - up, 1); row <= this.index(y + up, 1); row++) {
      for (let k = starts[row * side + first]; k < starts[row * side + last + 1]; k++) {
        const i = items[k];
        if (!mask[i]) continue;
        const dx = (position[2 * i] - x) * scale[0];
        const dy = (position[2 * i + 1] - y) * scale[1];
        const distance = dx * dx + dy * dy;
        if (distance < best || (distance === best && i > found)) [best, found] = [distance, i];
      }
    }
    return found;
  }
}

// Lowest and highest x and y, of all points or of some.
export function bounds(position, rows = null) {
  const n = rows?.length ?? position.length / 2;
  if (n === 0) return [[-1, -1], [1, 1]];
  const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  for (let k = 0; k < 2 * n; k++) {
    const [axis, value] = [k & 1, position[rows === null ? k : 2 * rows[k >> 1] + (k & 1)]];
    if (value < low[axis]) low[axis] = value;
    if (value > high[axis]) high[axis] = value;
  }
  return [low, high];
}

// The points that the mask allows inside a polygon of x and y in turn, by the even-odd rule. Most points are outside
// the polygon's box, which is a quick test.
export function inside(polygon, position, mask) {
  const [[left, bottom], [right, top]] = bounds(polygon);
  const found = [];
  for (let i = 0; i < mask.length; i++) {
    const [x, y] = [position[2 * i], position[2 * i + 1]];
    if (!mask[i] || x < left || x > right || y < bottom || y > top) continue;
    let isIn = false;
    for (let k = 0, j = polygon.length - 2; k < polygon.length; j = k, k += 2) {
      const [x1, y1, x2, y2] = [polygon[k], polygon[k + 1], polygon[j], polygon[j + 1]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isIn = !isIn;
    }
    if (isIn) found.push(i);
  }
  return Uint32Array.from(found);
}
