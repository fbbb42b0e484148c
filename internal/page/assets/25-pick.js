// Pickers of labels, people and milestones: a field filters what is there and finds more; what is chosen is applied
// without loading the page.
on('.pick[data-find]', (list) => {
	const box = list.parentElement, find = list.dataset.find;
	let field = box.querySelector('.pickfilter input');
	if (!field) {
		if (list.children.length < 8) return;
		field = document.createElement('input');
		field.type = 'search';
		field.placeholder = 'Filter';
		field.setAttribute('aria-label', `Filter ${box.querySelector('h2')?.textContent.toLowerCase() || ''}`);
		field.autocomplete = 'off';
		list.before(field);
	}
	box.querySelector('.pickfilter button')?.remove();
	const rows = () => [...list.querySelectorAll('label.check')];
	const input = (row) => row.querySelector('input');
	const seen = () => rows().filter((row) => !row.hidden).map(input);
	const sift = () => {
		const q = field.value.trim().toLowerCase();
		rows().forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(q); });
	};
	let asked = 0, timer;
	field.addEventListener('input', () => {
		rows().forEach((row) => { if (row.matches('.new') && !input(row).checked) row.remove(); });
		sift();
		clearTimeout(timer);
		const turn = ++asked, q = field.value.trim();
		if (!q || !find) return;
		timer = setTimeout(async () => {
			const found = await load(`${find}?q=${encodeURIComponent(q)}`).catch(() => null);
			if (!found || turn !== asked) return;
			const has = new Set(rows().map((row) => input(row).value));
			found.querySelectorAll('[data-piece] label.check').forEach((row) => { if (!has.has(input(row).value)) list.append(row); });
			sift();
		}, 150);
	});
	field.addEventListener('keydown', (e) => {
		if (e.isComposing) return;
		if (e.key === 'Enter') seen()[0]?.click();
		else if (e.key === 'ArrowDown') seen()[0]?.focus();
		else return;
		e.preventDefault();
	});
	list.addEventListener('keydown', (e) => {
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key], at = seen().indexOf(e.target);
		if (!by || at < 0 || e.target.type === 'radio') return;
		(seen()[at + by] || (by < 0 && field))?.focus?.();
		e.preventDefault();
	});
});

// A picker in a menu is applied when the menu closes; Escape leaves everything as it was.
on('form[data-apply]', (form) => {
	const menu = form.closest('details.menu');
	if (!menu) return;
	const chosen = () => {
		const body = new URLSearchParams(new FormData(form));
		body.delete('q');
		return body;
	};
	const before = String(chosen());
	form.addEventListener('submit', (e) => {
		e.preventDefault();
		menu.open = false;
		menu.querySelector('summary').focus();
	});
	form.addEventListener('keydown', (e) => { if (e.key === 'Escape') form.reset(); });
	menu.addEventListener('toggle', async () => {
		if (menu.open || !form.isConnected || String(chosen()) === before) return;
		try {
			renew(await load(form.action, { method: 'POST', body: chosen() }), form.dataset.apply);
		} catch { HTMLFormElement.prototype.submit.call(form); } // the page says what is wrong
	});
});

// renew shows a part of the page as it is in a fresh one, and what has happened since.
function renew(fresh, id) {
	const was = document.getElementById(id), part = fresh.getElementById(id);
	if (!part) throw new Error();
	was.replaceWith(part);
	enliven(part);
	part.querySelector('summary')?.focus();
	let line = document.querySelector('.timeline');
	if (!line && fresh.querySelector('.timeline')) {
		line = document.createElement('ol');
		line.className = 'timeline';
		document.querySelector('.thread').append(line);
	}
	fresh.querySelectorAll('.timeline > li.event[id]').forEach((entry) => {
		const old = document.getElementById(entry.id);
		if (old) old.replaceWith(entry); else line.append(entry);
		enliven(entry);
	});
}
