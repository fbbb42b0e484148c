(async (scripted) => {
	const found = new Set();
	const name = (n) => `${n.tagName.toLowerCase()}.${n.getAttribute('class') ?? ''} "${(n.ariaLabel || n.innerText || '').trim().slice(0, 50)}"`;
	const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
	const root = document.documentElement;

	// A box is inside the window from left to right, and from top to bottom as far as the window is high enough; nothing covers it.
	const check = (what, box) => {
		const r = box.getBoundingClientRect(), says = [];
		if (r.width < 32 || r.height < 8) says.push(`is ${Math.round(r.width)} x ${Math.round(r.height)} pixels`);
		if (r.left < 0 || r.right > root.clientWidth) says.push(`reaches from ${Math.round(r.left)} to ${Math.round(r.right)} of ${root.clientWidth}`);
		if (box.scrollWidth > box.clientWidth + 1) says.push(`has ${box.scrollWidth} pixels of contents in ${box.clientWidth}`);
		if (r.height <= innerHeight && (r.top < -1 || r.bottom > innerHeight + 1)) says.push(`reaches from ${Math.round(r.top)} down to ${Math.round(r.bottom)} of ${innerHeight}`);
		for (const x of [r.left + 9, (r.left + r.right) / 2, r.right - 9]) for (const y of [r.top + 9, (r.top + r.bottom) / 2, r.bottom - 9]) {
			if (x < 0 || x >= root.clientWidth || y < 0 || y >= innerHeight) continue;
			const top = document.elementFromPoint(x, y);
			if (!box.contains(top)) says.push(`is covered by ${top ? name(top) : 'nothing'}`);
		}
		if (says.length && found.size < 12) found.add(`${what} ${says[0]}`);
	};

	document.querySelectorAll('details').forEach((m) => { m.open = false; });
	for (const menu of document.querySelectorAll('details.menu')) {
		const box = menu.querySelector(':scope > div'), summary = menu.querySelector(':scope > summary');
		if (!box) found.add(`${name(summary)} opens nothing`);
		if (!box || !summary.checkVisibility() || summary.getClientRects().length === 0) continue;
		menu.open = true;
		await frame();
		for (const end = Date.now() + 300_000; scripted && Date.now() < end && menu.dataset.load && !menu.querySelector('[data-piece]');) await new Promise((go) => setTimeout(go, 50));
		await frame();
		box.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
		check(`the menu of ${name(summary)}`, box);
		menu.open = false;
	}

	for (const selector of ['a[data-keys]', 'a[data-palette]']) {
		const link = document.querySelector(selector);
		if (!link) found.add(`no ${selector}`);
		if (!link || !scripted) continue;
		link.click();
		for (const end = Date.now() + 300_000; Date.now() < end && !document.querySelector('dialog:modal');) await new Promise((go) => setTimeout(go, 20));
		const box = document.querySelector('dialog:modal');
		if (!box) { found.add(`${selector} opens no dialog`); continue; }
		check(`the dialog of ${selector}`, box);
		box.close();
	}
	return [...found];
})(SCRIPTED)
