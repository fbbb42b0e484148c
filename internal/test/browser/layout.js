(() => {
	const found = new Set();
	const name = (n) => `${n.tagName.toLowerCase()}.${n.getAttribute('class') ?? ''} in ${n.parentElement?.tagName.toLowerCase()}.${n.parentElement?.getAttribute('class') ?? ''} "${(n.innerText || n.value || n.outerHTML).trim().slice(0, 50)}"`;
	const bad = (text) => { if (found.size < 12) found.add(text); };
	const root = document.documentElement, memo = new Map();
	if (root.scrollWidth > root.clientWidth) bad(`the page is ${root.scrollWidth} pixels wide`);

	// What is known of an element from its ancestors: whether it is in view, which ancestors clip it, and
	// whether it floats above the rest.
	const about = (n) => {
		if (!n || n === document.body) return { shown: true, clips: [], floats: null, fixed: false };
		if (memo.has(n)) return memo.get(n);
		const up = about(n.parentElement), s = getComputedStyle(n), box = n.getBoundingClientRect();
		const hidden = s.visibility === 'hidden' || s.opacity === '0' || s.display === 'none' || s.clipPath !== 'none' || n.matches('.hide, .skip, dialog:not([open])');
		const a = { shown: up.shown && !hidden, clips: up.clips, floats: s.position === 'absolute' ? n : up.floats,
			fixed: up.fixed || s.position === 'fixed' || s.position === 'sticky' };
		if (s.overflowX !== 'visible' || s.overflowY !== 'visible') a.clips = [{ n, box, s }, ...up.clips];
		memo.set(n, a);
		return a;
	};

	// Texts are whole: what cuts them off lets one scroll, or shows an ellipsis and the text when pointed at.
	const cut = (r, a, n) => {
		for (const { n: by, box, s } of a.clips) {
			const across = r.right > box.right + 1.5 || r.left < box.left - 1.5, down = r.bottom > box.bottom + 3 || r.top < box.top - 3;
			const scrolls = (o) => o === 'auto' || o === 'scroll';
			if (across && scrolls(s.overflowX) || down && scrolls(s.overflowY)) return true;
			if (!across && !down) continue;
			if (across && !down && s.textOverflow === 'ellipsis' && (by.closest('[title]') || n.closest('[title]') || by.querySelector('[title]'))) return true;
			bad(`a text is cut off: ${name(n)}`);
			return true;
		}
		return false;
	};

	const boxes = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	while (texts.nextNode() && boxes.length < 6000) {
		const n = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || n.closest('script, style, noscript, select, textarea, svg, math, option')) continue;
		const a = about(n);
		if (!a.shown || !n.checkVisibility()) continue;
		range.selectNodeContents(texts.currentNode);
		for (const r of range.getClientRects()) {
			if (r.width < 2 || r.height < 2 || cut(r, a, n) || a.fixed) continue;
			const edge = r.height * .22;
			boxes.push({ n, text: texts.currentNode, a, left: r.left + 1, right: r.right - 1, top: r.top + edge, bottom: r.bottom - edge });
		}
	}
	for (const n of document.querySelectorAll('img, svg, input, textarea, select, button, .button, meter')) {
		const a = about(n), r = n.getBoundingClientRect();
		if (!a.shown || a.fixed || !n.checkVisibility() || r.width < 3 || r.height < 3 || n.parentElement.closest('svg')) continue;
		if (a.clips.some(({ box }) => r.right > box.right + 1 || r.left < box.left - 1 || r.bottom > box.bottom + 1 || r.top < box.top - 1)) continue;
		boxes.push({ n, a, left: r.left + 1, right: r.right - 1, top: r.top + 1, bottom: r.bottom - 1 });
	}

	// Nothing lies on a text, and no two fields or pictures on each other.
	boxes.sort((a, b) => a.top - b.top);
	for (let i = 0; i < boxes.length; i++) {
		const a = boxes[i];
		for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - 1; j++) {
			const b = boxes[j];
			if (a.text && b.text ? a.text === b.text : a.n.contains(b.n) || b.n.contains(a.n)) continue;
			if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5)
				bad(`${name(a.n)} and ${name(b.n)} lie on each other`);
		}
	}
	return [...found];
})()
