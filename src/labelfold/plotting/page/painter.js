// Points on a canvas, by WebGL2 or, where a browser has none, by a 2-D canvas with the same methods:
//   set({ position, color, size, shape })  typed arrays, all or only those that changed
//   order(name, index)                     a named layer: which points, and in which order
//   draw(camera, layers, theme)            layers of { name, count, fade, least }
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
const RING_WIDTH = 1.4; // CSS pixels, and
const RING_GAP = 1.2;

export function createPainter(canvas) {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, powerPreference: "high-performance" });
  return gl === null ? new CanvasPainter(canvas) : new WebGLPainter(canvas, gl);
}

// ---- WebGL2

const VERTEX = `#version 300 es
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 2) in float size;
layout(location = 3) in float shape;
uniform vec2 center, scale;
uniform float grow, least, fade, ringed;
flat out vec4 paint;
flat out float radius, width, ring;
flat out int outline;
void main() {
  gl_Position = vec4((position - center) * scale, 0, 1);
  radius = max(size * grow, least) / 2.0;
  ring = floor(shape / ${RING}.0);
  outline = int(shape - ring * ${RING}.0);
  width = 2.0 * radius + 1.0 + (ring > 0.0 ? 2.0 * ringed : 0.0);
  gl_PointSize = width;
  paint = vec4(color.rgb, color.a * fade);
}`;

// A point larger than some pixels is a little darker at its rim, so that neighbors of one color can be told apart.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray outlines;
uniform vec3 ground, ink;
uniform vec2 band;
flat in vec4 paint;
flat in float radius, width, ring;
flat in int outline;
out vec4 pixel;
float disk(float far, float edge) { return clamp(edge - far + 0.5, 0.0, 1.0); }
void main() {
  vec2 at = (gl_PointCoord - 0.5) * width;
  float far = length(at);
  float inside = disk(far, radius);
  if (outline > 0) inside = texture(outlines, vec3(at / radius * 0.47 + 0.5, outline)).r;
  float rim = outline == 0 && radius > 2.5 ? 0.22 * smoothstep(radius - 2.0, radius, far) : 0.0;
  vec3 fill = paint.rgb * (1.0 - rim);
  float cover = inside;
  if (ring > 0.0) {
    float outer = radius + band.x + band.y;
    vec3 edge = ring > 1.0 ? ink : mix(paint.rgb, ink, 0.35);
    fill = mix(mix(ground, edge, 1.0 - disk(far, outer - band.y)), fill, inside);
    cover = disk(far, outer);
  }
  float alpha = cover * paint.a;
  pixel = vec4(fill * alpha, alpha);
}`;

const UNIFORMS = "center scale grow least fade ringed ground ink band".split(" ");
const ATTRIBUTES = { position: 2, color: 4, size: 1, shape: 1 };
const TILE = 64; // pixels of an outline's texture

class WebGLPainter {
  constructor(canvas, gl) {
    Object.assign(this, { kind: "webgl", canvas, gl, arrays: {}, orders: {} });
    this.start();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.start();
      this.set(this.arrays);
      for (const [name, index] of Object.entries(this.orders)) this.order(name, index);
      canvas.dispatchEvent(new Event("restored"));
    });
  }

  start() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.places = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = {};
    this.indices = {};
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R8, TILE, TILE, SHAPE_NAMES.length, 0, gl.RED, gl.UNSIGNED_BYTE, outlineTiles());
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  }

  set(arrays) {
    const { gl } = this;
    Object.keys(ATTRIBUTES).forEach((name, place) => {
      if (!(name in arrays)) return;
      this.arrays[name] = arrays[name];
      gl.bindBuffer(gl.ARRAY_BUFFER, (this.buffers[name] ??= gl.createBuffer()));
      gl.bufferData(gl.ARRAY_BUFFER, arrays[name], gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      const type = arrays[name] instanceof Float32Array ? gl.FLOAT : gl.UNSIGNED_BYTE;
      gl.vertexAttribPointer(place, ATTRIBUTES[name], type, name === "color", 0, 0);
    });
  }

  order(name, index) {
    const { gl } = this;
    this.orders[name] = index;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, (this.indices[name] ??= gl.createBuffer()));
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.DYNAMIC_DRAW);
  }

  draw({ center, scale, width, height, ratio, grow }, layers, { ground, ink }) {
    const { gl, canvas, places } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...ground.map((part) => part / 255), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(places.center, ...center);
    gl.uniform2f(places.scale, (2 * scale[0]) / width, (2 * scale[1]) / height);
    gl.uniform1f(places.grow, grow * ratio);
    gl.uniform1f(places.ringed, (RING_WIDTH + RING_GAP) * ratio);
    gl.uniform2f(places.band, RING_GAP * ratio, RING_WIDTH * ratio);
    gl.uniform3fv(places.ground, ground.map((part) => part / 255));
    gl.uniform3fv(places.ink, ink.map((part) => part / 255));
    for (const { name, count, fade, least } of layers) {
      gl.uniform1f(places.fade, fade);
      gl.uniform1f(places.least, least * ratio);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices[name]);
      gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
    }
  }
}

function outlineTiles() {
  const pen = new OffscreenCanvas(TILE, TILE).getContext("2d", { willReadFrequently: true });
  pen.setTransform(TILE * 0.47, 0, 0, TILE * 0.47, TILE / 2, TILE / 2);
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
    Object.assign(this, { kind: "canvas", canvas, pen: canvas.getContext("2d", { alpha: false }), arrays: {}, orders: {} });
  }

  set(arrays) {
    Object.assign(this.arrays, arrays);
  }

  order(name, index) {
    this.orders[name] = index;
  }

  draw({ center, scale, width, height, ratio, grow }, layers, { ground, ink }) {
    const { pen, arrays: { position, color, size, shape } } = this;
    const stamps = new Map(); // pictures of points by color, shape and size
    pen.globalAlpha = 1;
    pen.fillStyle = `rgb(${ground})`;
    pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const { name, count, fade, least } of layers) {
      const index = this.orders[name];
      for (let k = 0; k < count; k++) {
        const i = index[k];
        const x = ((position[2 * i] - center[0]) * scale[0] + width / 2) * ratio;
        const y = (height / 2 - (position[2 * i + 1] - center[1]) * scale[1]) * ratio;
        if (x < -20 || y < -20 || x > this.canvas.width + 20 || y > this.canvas.height + 20) continue;
        const wide = Math.round(2 * Math.max(size[i] * grow, least) * ratio) / 2;
        const rgb = (color[4 * i] << 16) | (color[4 * i + 1] << 8) | color[4 * i + 2];
        const key = (rgb * 256 + shape[i]) * 512 + 2 * wide;
        let stamp = stamps.get(key);
        if (stamp === undefined) stamps.set(key, (stamp = makeStamp(rgb, shape[i], wide / 2, ratio, ground, ink)));
        pen.globalAlpha = (color[4 * i + 3] / 255) * fade;
        pen.drawImage(stamp, x - stamp.width / 2, y - stamp.height / 2);
      }
    }
  }
}

function makeStamp(rgb, shape, radius, ratio, ground, ink) {
  const own = [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
  const outer = radius + (shape < RING ? 0 : (RING_GAP + RING_WIDTH) * ratio);
  const stamp = new OffscreenCanvas(2 * Math.ceil(outer) + 2, 2 * Math.ceil(outer) + 2);
  const pen = stamp.getContext("2d");
  const fill = (color, far, outline) => {
    pen.setTransform(far, 0, 0, far, stamp.width / 2, stamp.height / 2);
    pen.fillStyle = `rgb(${color})`;
    pen.fill(new Path2D(SHAPES[outline]));
  };
  if (shape >= RING) {
    fill(shape >= INK_RING ? ink : own.map((part, k) => 0.65 * part + 0.35 * ink[k]), outer, "o");
    fill(ground, outer - RING_WIDTH * ratio, "o");
  }
  fill(own, radius, SHAPE_NAMES[shape % RING]);
  return stamp;
}
