// Search in all texts of all points. A text is stored once, however many points have it, and searched once.

const foldedTexts = new WeakMap(); // by array of texts, filled by the first search

// Accents, case and spacing do not matter.
function folded(text) {
  return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/\s+/g, " ").trim();
}

// A mask of the points that have the text in any field, null for no text. Fields are { texts, codes }: the text of a
// point is `texts[codes[i]]`, if there is one.
export function find(text, fields, n) {
  const wanted = folded(text);
  if (wanted === "") return null;
  const hits = new Uint8Array(n);
  for (const { texts, codes } of fields) {
    if (!foldedTexts.has(texts)) foldedTexts.set(texts, texts.map(folded));
    const isHit = Uint8Array.from(foldedTexts.get(texts), (one) => one.includes(wanted));
    for (let i = 0; i < n; i++) hits[i] |= isHit[codes[i]];
  }
  return hits;
}
