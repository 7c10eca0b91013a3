// Which part of a map is on the screen: `center` in data, `scale` in CSS pixels per unit of x and y.

const [MARGIN, TOP] = [28, 62]; // pixels around all points, and above them, where the tools are
const EDGE = 10; // pixels from the edge, within which a point is out of sight
const ZOOMS = [0.2, 20000]; // least and most, 1 shows all points

export class Camera {
  constructor() {
    Object.assign(this, { center: [0, 0], scale: [1, 1], width: 1, height: 1, ratio: 1, home: null, isHome: true });
  }

  get zoom() { return this.scale[0] / this.home.scale[0]; }
  get corners() { return [[0, 0], [this.width, 0], [this.width, this.height], [0, this.height]]; }

  // From data to the screen, and back.
  place(x, y) {
    const { center, scale, width, height } = this;
    return [(x - center[0]) * scale[0] + width / 2, height / 2 - (y - center[1]) * scale[1]];
  }

  dataAt(left, top) {
    const { center, scale, width, height } = this;
    return [center[0] + (left - width / 2) / scale[0], center[1] + (height / 2 - top) / scale[1]];
  }

  // The view that shows a box from `low` to `high`. Unless the map is stretched, x and y have the same scale.
  framing([low, high], isStretched) {
    const sides = [this.width - 2 * MARGIN, this.height - MARGIN - TOP];
    const fitting = sides.map((side, k) => Math.max(50, side) / (high[k] - low[k] || 1));
    const scale = isStretched ? fitting : fitting.map(() => Math.min(...fitting));
    const [x, y] = low.map((one, k) => (one + high[k]) / 2);
    return { center: [x, y + (TOP - MARGIN) / 2 / scale[1]], scale };
  }

  look({ center, scale }) {
    const zoom = scale[0] / this.home.scale[0];
    const bounded = Math.max(ZOOMS[0], Math.min(ZOOMS[1], zoom));
    Object.assign(this, { center, scale: scale.map((one) => (one * bounded) / zoom), isHome: false });
  }

  panned(right, down) {
    const { center, scale } = this;
    return { center: [center[0] - right / scale[0], center[1] + down / scale[1]], scale };
  }

  // Zoomed with the data at this place of the screen standing still.
  zoomed(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.dataAt(left, top);
    const scale = this.scale.map((one) => one * factor);
    return { center: [x - (left - this.width / 2) / scale[0], y - (this.height / 2 - top) / scale[1]], scale };
  }

  sees(left, top) { return Math.min(left, top, this.width - left, this.height - top) > EDGE; }
}
