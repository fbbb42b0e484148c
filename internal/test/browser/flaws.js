(async () => {
	const found = new Set();
	const name = (n) => `${n.tagName.toLowerCase()}${n.id && '#' + n.id}.${n.getAttribute('class') ?? ''} "${(n.innerText || n.value || n.outerHTML).trim().slice(0, 60)}"`;
	const shown = (n) => n.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && n.getClientRects().length > 0 && !n.closest('.hide');
	const bad = (what, n) => { if (found.size < 20) found.add(`${what}: ${name(n)}`); };

	if (document.documentElement.scrollWidth > innerWidth) found.add(`the page is ${document.documentElement.scrollWidth} pixels wide`);
	for (const dot of document.querySelectorAll('.dot')) {
		const a = dot.getBoundingClientRect(), b = dot.firstElementChild?.getBoundingClientRect();
		if (b && (b.left < a.left || b.right > a.right || b.top < a.top || b.bottom > a.bottom)) bad('the icon is not in its bullet', dot);
	}

	// Open all menus, and wait for those that load their contents.
	for (const menu of document.querySelectorAll('details')) menu.open = true;
	const loads = [...document.querySelectorAll('details[data-load]')];
	for (const end = Date.now() + 300_000; Date.now() < end && loads.some((menu) => menu.dataset.load && !menu.querySelector('[data-piece]'));) await new Promise((go) => setTimeout(go, 50));
	for (const menu of document.querySelectorAll('[data-piece] details')) menu.open = true;

	for (const box of document.querySelectorAll('input[type=checkbox], input[type=radio], [role=checkbox]')) {
		if (!box.labels?.length && !box.ariaLabel && !box.getAttribute('aria-labelledby') && !box.textContent.trim()) bad('a box without a name', box);
		if (!shown(box)) continue;
		const at = box.getBoundingClientRect();
		for (let around = box.parentElement; around && around !== document.body; around = around.parentElement) {
			if (getComputedStyle(around).overflowX === 'visible') continue;
			const of = around.getBoundingClientRect();
			if (at.left < of.left || at.right > of.right && around.scrollWidth <= around.clientWidth) bad('a box is cut off', box.labels?.[0] ?? box);
		}
	}

	// The background of a text is that of its ancestors, painted from the root on.
	const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
	const painted = (colors) => {
		canvas.fillStyle = '#fff';
		canvas.fillRect(0, 0, 1, 1);
		for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
		return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255).map((c) => (c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4));
	};
	const light = ([r, g, b]) => .2126 * r + .7152 * g + .0722 * b;
	for (const n of document.querySelectorAll('button, .button, summary, a, label, .tag, .state, .label, .count, .note')) {
		if (!shown(n) || n.matches('.skip') || n.closest('[disabled]') || !n.innerText.trim()) continue;
		const behind = [];
		for (let around = n; around; around = around.parentElement) behind.unshift(getComputedStyle(around).backgroundColor);
		const back = light(painted(behind)), ink = light(painted([...behind, getComputedStyle(n).color]));
		const ratio = (Math.max(back, ink) + .05) / (Math.min(back, ink) + .05);
		if (ratio < 4.5) bad(`contrast ${ratio.toFixed(1)}`, n);
	}

	for (const field of document.querySelectorAll('input, textarea, select')) {
		if (!shown(field) || /^(checkbox|radio|color|file|hidden|number|date)$/.test(field.type) || field.size > 1 && field.size < 20) continue;
		if (field.getBoundingClientRect().width < 64) bad(`a field of ${Math.round(field.getBoundingClientRect().width)} pixels`, field);
	}

	// A word moves to the next line whole, unless it is longer than a narrow column.
	const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	while (words.nextNode()) {
		const text = words.currentNode, around = text.parentElement;
		if (!around || !shown(around) || around.closest('pre, table.code, table.diff, textarea, select, script, style, .lines, .long, bdi, .title')) continue;
		range.selectNodeContents(text);
		if (range.getClientRects().length < 2) continue;
		for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
			if (word[0].length > 16 || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word[0])) continue; // these break anywhere
			range.setStart(text, word.index);
			range.setEnd(text, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) bad(`the word "${word[0]}" is broken`, around);
		}
	}
	return [...found];
})()
