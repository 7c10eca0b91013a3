// The page of one file: the viewer on the data that the file holds.
import { inflate, unpack } from "./binary.js";
import { make } from "./elements.js";
import { Viewer } from "./viewer.js";

const block = (id) => document.getElementById(id).textContent;
const data = unpack(await inflate(block("map-data")));
const root = document.getElementById("map");
const viewer = (root.viewer = new Viewer(root, data)); // to be found from the console
document.documentElement.dataset.ready = "true";

// Images come later: they are most of the file, and no point needs them to be drawn.
if (block("map-images") !== "") {
  const { pixels, size: [height, width] } = unpack(await inflate(block("map-images")));
  const depth = pixels.length / viewer.n / (height * width); // 1 for gray, otherwise 3 or 4 channels
  data.image = (row) => {
    const picture = new ImageData(width, height);
    for (let k = 0; k < picture.data.length; k++) {
      const [place, channel] = [(row * height * width + (k >> 2)) * depth, k & 3];
      const isOpaque = channel === 3 && depth < 4;
      picture.data[k] = isOpaque ? 255 : pixels[place + (depth === 1 ? 0 : channel)];
    }
    const canvas = make("canvas", { width, height });
    canvas.getContext("2d").putImageData(picture, 0, 0);
    return canvas;
  };
}
