// Data of a map as one block of bytes: a header of JSON, then typed arrays. labelfold.plotting.interactive_map.pack
// writes it: four bytes hold the header's length, and arrays start at multiples of 8 after it.

const TYPES = { int8: Int8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array };
Object.assign(TYPES, { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array });

// The header as an object, with each array in place of its description. No number is copied.
export function unpack(buffer) {
  const end = 4 + new DataView(buffer).getUint32(0, true);
  const { arrays, ...data } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, end - 4)));
  for (const [name, [type, start, n]] of Object.entries(arrays)) data[name] = new TYPES[type](buffer, end + start, n);
  return data;
}

// The bytes of a block in base64 that zlib has compressed, as a page holds them.
export function inflate(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
