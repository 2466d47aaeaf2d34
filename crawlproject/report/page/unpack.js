// The data of the report: JSON, compressed, in script elements that no browser runs.

/** What is in the parts of a kind, in their order; the elements are let go of. */
export async function unpackedParts(kind) {
  const nodes = [...document.querySelectorAll(`script[data-part="${kind}"]`)];
  return Promise.all(nodes.map(async (node) => {
    const text = await unpackedText(node.textContent);
    node.remove();
    return text;
  }));
}

async function unpackedText(packed) {
  const letters = atob(packed.trim());
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** The charts' library: the policy of the page knows its hash, and lets no other script in. */
export async function loadCharts() {
  const [code] = await unpackedParts("charts");
  const script = document.createElement("script");
  script.textContent = code;
  document.head.append(script);
  return globalThis.echarts;
}
