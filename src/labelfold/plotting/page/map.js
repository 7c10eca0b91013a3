// The page of one file: the viewer on the data that the file holds.
import { inflate, unpack } from "./binary.js";
import { make } from "./elements.js";
import { Viewer } from "./viewer.js";

const block = (id) => document.getElementById(id)?.textContent ?? "";

const data = unpack(await inflate(block("map-data")));
const viewer = new Viewer(document.getElementById("map"), data);
document.documentElement.dataset.ready = "true";

// Images come later: they are most of the file, and no point needs them to be drawn.
if (block("map-images") !== "") {
  const { pixels, size: [height, width] } = unpack(await inflate(block("map-images")));
  const nBytes = 4 * height * width;
  data.image = (row) => {
    const canvas = make("canvas", { width, height });
    const gray = pixels.length / viewer.n / (height * width);
    const picture = new ImageData(width, height);
    const own = pixels.subarray((row * nBytes * gray) / 4, ((row + 1) * nBytes * gray) / 4);
    for (let i = 0; i < height * width; i++) {
      for (let k = 0; k < 3; k++) picture.data[4 * i + k] = own[gray * i + (gray > 1 ? k : 0)];
      picture.data[4 * i + 3] = gray === 4 ? own[4 * i + 3] : 255;
    }
    canvas.getContext("2d").putImageData(picture, 0, 0);
    return canvas;
  };
}
