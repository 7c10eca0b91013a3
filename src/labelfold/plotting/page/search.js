// Search in all texts of all points. A text is stored once, however many points have it, and searched once.

// Accents, case and spacing do not matter.
export function folded(text) {
  return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/\s+/g, " ").trim();
}

// Fields are { texts, codes }: `codes` has the number of each point's text, counted from `first`; others have none.
export class Search {
  constructor(n, fields) {
    this.n = n;
    this.fields = fields;
    this.foldedTexts = new Map(); // by array of texts, made at the first search
  }

  // A mask of the points that have the text in any field, null for no text.
  find(text) {
    const wanted = folded(text);
    if (wanted === "") return null;
    const hits = new Uint8Array(this.n);
    for (const { texts, codes, first } of this.fields) {
      if (!this.foldedTexts.has(texts)) this.foldedTexts.set(texts, texts.map(folded));
      const isHit = Uint8Array.from(this.foldedTexts.get(texts), (one) => one.includes(wanted));
      for (let i = 0; i < this.n; i++) hits[i] |= isHit[codes[i] - first];
    }
    return hits;
  }
}
