// Runs in a frame with an origin of its own, where what a text makes it do reaches nothing. It answers each diagram,
// { text, dark }, with a picture: { svg, width, height, title }, or with {} if it is none.
import mermaid from 'mermaid';

const most = 4000; // pixels
let made = 0;

// picture makes a document of its own of the drawing, which pages show as an image.
function picture(svg) {
	const box = document.createElement('div');
	box.innerHTML = svg;
	const drawing = box.querySelector('svg');
	const [, , width, height] = (drawing.getAttribute('viewBox') ?? '').split(' ').map(Number);
	const size = { width: Math.min(Math.ceil(width) || 600, most), height: Math.min(Math.ceil(height) || 400, most) };
	drawing.removeAttribute('style');
	drawing.setAttribute('width', size.width);
	drawing.setAttribute('height', size.height);
	const title = drawing.querySelector(':scope > title')?.textContent ?? '';
	return { svg: new XMLSerializer().serializeToString(drawing), title, ...size };
}

addEventListener('message', async ({ source, data: { text, dark } }) => {
	if (source !== parent) return;
	let answer = {};
	try {
		mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'default', layout: 'dagre', htmlLabels: false,
			flowchart: { htmlLabels: false }, suppressErrorRendering: true, maxTextSize: 20_000, maxEdges: 250,
			fontFamily: 'system-ui, sans-serif' });
		answer = picture((await mermaid.render(`diagram-${made++}`, text)).svg);
	} catch { /* the page shows the source */ }
	parent.postMessage(answer, '*'); // this frame has no origin to name, and says nothing that the page does not know
});
parent.postMessage('ready', '*');
