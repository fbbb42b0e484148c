// Texts that people wrote. Ids in them have a prefix, so that none is one of the page's: an address without it leads there, too.
function toHeading() {
	let id = location.hash.slice(1);
	try { id = decodeURIComponent(id); } catch { return; }
	if (id && !document.getElementById(id)) document.getElementById(`user-content-${id}`)?.scrollIntoView();
}
addEventListener('hashchange', toHeading);
toHeading();

// What is wider than its column can be scrolled by keyboard, also when the column becomes narrower.
const reach = (n) => { if (n.scrollWidth > n.clientWidth) n.tabIndex = 0; };
const narrowed = new ResizeObserver((all) => all.forEach((one) => reach(one.target)));
on('.said pre, .said table', (n) => { reach(n); narrowed.observe(n); });

// oneByOne returns a function that hands an item to a helper, a worker or a frame, one after the other, and its answer to
// show. A helper that does not answer in time is ended, and the next item gets a new one; the third time is the last.
function oneByOne(start, limit, show) {
	const waiting = [];
	let helper = null, late = 0, busy = false;
	async function work() {
		busy = true;
		for (let item; late < 3 && (item = waiting.shift());) {
			helper ??= start();
			const answer = await new Promise((resolve) => {
				helper.answered = resolve;
				setTimeout(resolve, limit);
				helper.ask(item);
			});
			if (answer !== undefined) { show(item, answer); continue; }
			helper.end();
			helper = null;
			late++;
		}
		busy = false;
	}
	return (item) => { waiting.push(item); if (!busy) work(); };
}

// Formulas become MathML. Where that fails, and without a script, the source is there.
const maxFormulas = 500;
let formulas = 0;
const formula = oneByOne(() => {
	const worker = new Worker('{{math}}'), helper = {
		ask: (code) => worker.postMessage({ tex: code.textContent.trim().replace(/^(\$\$|\$`|\$)([^]*?)(\$\$|`\$|\$)$/, '$2'), display: !code.matches('.math-inline') }),
		end: () => worker.terminate(),
	};
	worker.addEventListener('message', (e) => helper.answered(e.data));
	worker.addEventListener('error', () => helper.answered(''));
	return helper;
}, 2000, (code, html) => {
	const piece = document.createElement('template');
	piece.innerHTML = html;
	const math = piece.content.querySelector('math');
	if (math) (code.closest('pre') ?? code).replaceWith(math);
});
on('.said code.language-math', (code) => { if (formulas++ < maxFormulas && code.textContent.length < 5000) formula(code); });

// Diagrams become images when they are about to be seen. The frame that draws them has an origin of its own.
const maxDiagrams = 50;
let diagrams = 0;
const diagram = oneByOne(() => {
	const frame = document.createElement('iframe');
	frame.setAttribute('sandbox', 'allow-scripts');
	frame.className = 'offstage';
	frame.title = 'Diagrams';
	frame.tabIndex = -1;
	frame.setAttribute('aria-hidden', 'true');
	let item = null, ready = false;
	const send = () => {
		const dark = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : '');
		if (ready && item) frame.contentWindow.postMessage({ text: item.textContent, dark: dark === 'dark' }, '*');
	};
	const hear = (e) => {
		if (e.source !== frame.contentWindow) return;
		if (e.data === 'ready') { ready = true; send(); } else helper.answered(e.data);
	};
	const helper = { ask: (code) => { item = code; send(); }, end: () => { removeEventListener('message', hear); frame.remove(); } };
	addEventListener('message', hear);
	frame.src = '{{diagrams}}';
	document.body.append(frame);
	return helper;
}, 20000, (code, { svg, width, height, title }) => {
	if (typeof svg !== 'string' || svg.length > 2e6) return;
	const figure = document.createElement('figure'), image = new Image(width, height), source = document.createElement('details'), summary = document.createElement('summary');
	figure.className = 'diagram';
	image.alt = `${title || 'Diagram'}`;
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
	summary.textContent = 'Source of the diagram';
	code.parentNode.replaceWith(figure);
	source.append(summary, code.parentNode);
	figure.append(image, source);
});
const seen = new IntersectionObserver((list) => list.forEach((e) => {
	if (!e.isIntersecting) return;
	seen.unobserve(e.target);
	diagram(e.target.firstElementChild);
}), { rootMargin: '800px' });
on('.said pre > code.language-mermaid', (code) => { if (diagrams++ < maxDiagrams && code.textContent.length < 20000) seen.observe(code.parentNode); });
