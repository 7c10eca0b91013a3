// Points on a canvas, by WebGL2 or, where a browser has none, by a 2-D canvas with the same methods:
//   set({ position, color, size, shape })  typed arrays, all or only those that changed
//   order(name, index)                     a named layer: which points, and in which order
//   draw(camera, layers, theme)            layers of { name, count, isPale, least }
// Positions are x and y in turn, colors red, green, blue and opacity, sizes diameters in CSS pixels. A shape is an
// index in SHAPES, plus RING or INK_RING.

// Outlines in units of a point's radius, y down, by the names of labelfold.plotting.palette; the star is for centers.
export const SHAPES = {
  o: "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
  s: "M-.82-.82H.82V.82H-.82Z",
  "^": "M0-1L.98.78H-.98Z",
  D: "M0-1L.8 0 0 1-.8 0Z",
  P: "M-.36-1H.36V-.36H1V.36H.36V1H-.36V.36H-1V-.36H-.36Z",
  X: "M-1-.5L-.5-1 0-.5 .5-1 1-.5 .5 0 1 .5 .5 1 0 .5-.5 1-1 .5-.5 0Z",
  v: "M0 1L.98-.78H-.98Z",
  p: "M0-1L.95-.31 .59.81H-.59L-.95-.31Z",
  "*": "M0-1L.25-.34 .95-.31 .4.13 .59.81 0 .42-.59.81-.4.13-.95-.31-.25-.34Z",
};
export const SHAPE_NAMES = Object.keys(SHAPES);
export const RING = 16; // in the point's own color, with a gap
export const INK_RING = 32; // in the color of text
const [RING_GAP, RING_WIDTH] = [1.2, 1.4]; // CSS pixels
const PALE = 0.14; // share of ink in the gray of points that others are singled out from

const mix = (one, other, share) => one.map((part, k) => part + share * (other[k] - part));

// `restored` is called when a graphics card that was lost, as in sleep, is back.
export function createPainter(canvas, restored) {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false });
  return gl === null ? new CanvasPainter(canvas) : new WebGLPainter(canvas, gl, restored);
}

// ---- WebGL2

const VERTEX = `#version 300 es
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 2) in float size;
layout(location = 3) in float shape;
uniform vec2 center, scale, band;
uniform vec3 ground, ink;
uniform float grow, least;
uniform bool isPale;
flat out vec4 paint;
flat out float radius, width, ring, outline;
void main() {
  gl_Position = vec4((position - center) * scale, 0, 1);
  radius = max(size * grow, least) / 2.0;
  ring = isPale ? 0.0 : floor(shape / ${RING}.0);
  outline = mod(shape, ${RING}.0);
  width = 2.0 * radius + 1.0 + (ring > 0.0 ? 2.0 * (band.x + band.y) : 0.0);
  gl_PointSize = width;
  paint = isPale ? vec4(mix(ground, ink, ${PALE}), 0.5 * color.a) : color;
}`;

// A point larger than some pixels is a little darker at its rim, so that neighbors of one color can be told apart.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray outlines;
uniform vec3 ground, ink;
uniform vec2 band;
flat in vec4 paint;
flat in float radius, width, ring, outline;
out vec4 pixel;
float disk(float far, float edge) { return clamp(edge - far + 0.5, 0.0, 1.0); }
void main() {
  vec2 at = (gl_PointCoord - 0.5) * width;
  float far = length(at);
  bool isDisk = outline == 0.0;
  float cover = isDisk ? disk(far, radius) : texture(outlines, vec3(at / radius * 0.47 + 0.5, outline)).r;
  float rim = isDisk && radius > 2.5 ? 0.22 * smoothstep(radius - 2.0, radius, far) : 0.0;
  vec3 fill = paint.rgb * (1.0 - rim);
  if (ring > 0.0) {
    float outer = radius + band.x + band.y;
    vec3 edge = ring > 1.0 ? ink : mix(paint.rgb, ink, 0.35);
    fill = mix(mix(edge, ground, disk(far, outer - band.y)), fill, cover);
    cover = disk(far, outer);
  }
  pixel = vec4(fill, 1) * cover * paint.a;
}`;

const ATTRIBUTES = { position: 2, color: 4, size: 1, shape: 1 };
const TILE = 64; // pixels of an outline's texture, and
const ZOOM = 0.47 * TILE; // of its radius

class WebGLPainter {
  constructor(canvas, gl, restored) {
    Object.assign(this, { kind: "webgl", canvas, gl, arrays: {}, orders: {} });
    this.start();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.start();
      this.set(this.arrays);
      for (const [name, index] of Object.entries(this.orders)) this.order(name, index);
      restored();
    });
  }

  start() {
    const { gl } = this;
    Object.assign(this, { program: gl.createProgram(), buffers: {}, indices: {} });
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    gl.useProgram(this.program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const target = gl.TEXTURE_2D_ARRAY;
    gl.bindTexture(target, gl.createTexture());
    gl.texImage3D(target, 0, gl.R8, TILE, TILE, SHAPE_NAMES.length, 0, gl.RED, gl.UNSIGNED_BYTE, outlineTiles());
    gl.generateMipmap(target);
    gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(target, side, gl.CLAMP_TO_EDGE);
  }

  set(arrays) {
    const { gl } = this;
    Object.assign(this.arrays, arrays);
    Object.entries(ATTRIBUTES).forEach(([name, length], place) => {
      if (!(name in arrays)) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, (this.buffers[name] ??= gl.createBuffer()));
      gl.bufferData(gl.ARRAY_BUFFER, arrays[name], gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      const type = arrays[name] instanceof Float32Array ? gl.FLOAT : gl.UNSIGNED_BYTE;
      gl.vertexAttribPointer(place, length, type, name === "color", 0, 0);
    });
  }

  order(name, index) {
    const { gl } = this;
    this.orders[name] = index;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, (this.indices[name] ??= gl.createBuffer()));
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.DYNAMIC_DRAW);
  }

  draw({ center, scale, width, height, ratio, grow }, layers, theme) {
    const { gl, canvas, program } = this;
    const give = (name, ...values) => gl[`uniform${values.length}f`](gl.getUniformLocation(program, name), ...values);
    const [ground, ink] = [theme.ground, theme.ink].map((color) => color.map((part) => part / 255));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...ground, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const band = [RING_GAP * ratio, RING_WIDTH * ratio];
    const toClip = [(2 * scale[0]) / width, (2 * scale[1]) / height];
    const uniforms = { center, scale: toClip, grow: [grow * ratio], band, ground, ink };
    for (const [name, values] of Object.entries(uniforms)) give(name, ...values);
    for (const { name, count, isPale, least } of layers) {
      give("isPale", isPale ? 1 : 0);
      give("least", least * ratio);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices[name]);
      gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
    }
  }
}

function outlineTiles() {
  const pen = new OffscreenCanvas(TILE, TILE).getContext("2d", { willReadFrequently: true });
  pen.setTransform(ZOOM, 0, 0, ZOOM, TILE / 2, TILE / 2);
  const tiles = new Uint8Array(SHAPE_NAMES.length * TILE * TILE);
  SHAPE_NAMES.forEach((name, layer) => {
    pen.clearRect(-2, -2, 4, 4);
    pen.fill(new Path2D(SHAPES[name]));
    const { data } = pen.getImageData(0, 0, TILE, TILE);
    for (let i = 0; i < TILE * TILE; i++) tiles[layer * TILE * TILE + i] = data[4 * i + 3];
  });
  return tiles;
}

// ---- 2-D canvas

class CanvasPainter {
  constructor(canvas) {
    const pen = canvas.getContext("2d", { willReadFrequently: true }); // in memory, without a graphics card
    Object.assign(this, { kind: "canvas", canvas, pen, arrays: {}, orders: {} });
  }

  set(arrays) { Object.assign(this.arrays, arrays); }
  order(name, index) { this.orders[name] = index; }

  draw({ center, scale, width, height, ratio, grow }, layers, { ground, ink }) {
    const { pen, canvas, arrays: { position, color, size, shape } } = this;
    const pale = mix(ground, ink, PALE);
    const paths = SHAPE_NAMES.map((name) => new Path2D(SHAPES[name]));
    pen.globalAlpha = 1;
    pen.resetTransform();
    pen.fillStyle = `rgb(${ground})`;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    for (const { name, count, isPale, least } of layers) {
      for (const i of this.orders[name].subarray(0, count)) {
        const x = ((position[2 * i] - center[0]) * scale[0] + width / 2) * ratio;
        const y = (height / 2 - (position[2 * i + 1] - center[1]) * scale[1]) * ratio;
        const fill = (paint, radius, outline) => {
          pen.setTransform(radius * ratio, 0, 0, radius * ratio, x, y);
          pen.fillStyle = `rgb(${paint[0]},${paint[1]},${paint[2]})`;
          pen.fill(paths[outline]);
        };
        const own = isPale ? pale : [color[4 * i], color[4 * i + 1], color[4 * i + 2]];
        const radius = Math.max(size[i] * grow, least) / 2;
        pen.globalAlpha = ((isPale ? 0.5 : 1) * color[4 * i + 3]) / 255;
        if (shape[i] >= RING && !isPale) {
          fill(shape[i] >= INK_RING ? ink : mix(own, ink, 0.35), radius + RING_GAP + RING_WIDTH, 0);
          fill(ground, radius + RING_GAP, 0);
        }
        fill(own, radius, shape[i] % RING);
      }
    }
  }
}
