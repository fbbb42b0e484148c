// Saved replies: a menu of the editor that filters them and inserts one at the caret. Without a script it is a link to
// the page that lists them.
on('.editor > a[href="/settings/replies"]', (link) => {
	const field = link.closest('.editor').querySelector('textarea');
	const menu = document.createElement('details');
	menu.className = 'menu left replies';
	menu.innerHTML = '<summary>Saved replies</summary><div><input type="search" placeholder="Filter" aria-label="Filter saved replies" autocomplete="off"><ul class="plainlist"></ul><p class="soft" role="status"></p></div>';
	const [filter, list, said] = menu.querySelectorAll('input, ul, p');
	const manage = link.cloneNode(true);
	manage.textContent = 'Edit saved replies';
	menu.lastElementChild.append(manage);
	link.replaceWith(menu);

	const buttons = () => [...list.querySelectorAll('li:not([hidden]) button')];
	const sift = () => {
		const q = filter.value.trim().toLowerCase();
		for (const row of list.children) row.hidden = !row.textContent.toLowerCase().includes(q);
		if (list.children.length) said.textContent = buttons().length ? '' : 'No saved reply matches.';
	};
	const take = (text) => {
		menu.open = false;
		put(field, text, '');
	};
	menu.addEventListener('toggle', async () => {
		if (!menu.open) return;
		filter.value = '';
		filter.focus();
		said.textContent = 'Loading…';
		try {
			list.replaceChildren(...[...(await load(manage.href)).querySelectorAll('[data-reply]')].map((reply) => {
				const row = document.createElement('li'), b = document.createElement('button'), more = document.createElement('span');
				const title = document.createElement('bdi'), text = reply.querySelector('textarea').value;
				b.type = 'button';
				title.textContent = reply.querySelector('summary').textContent;
				more.className = 'soft';
				more.textContent = text;
				b.append(title, more);
				b.addEventListener('click', () => take(text));
				row.append(b);
				return row;
			}));
			said.textContent = list.children.length ? '' : 'You have no saved replies.';
			sift();
		} catch { said.textContent = 'Saved replies cannot be shown now.'; }
	});
	filter.addEventListener('input', sift);
	menu.addEventListener('keydown', (e) => {
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key], at = buttons().indexOf(e.target);
		if (e.isComposing) return;
		if (e.target === filter && e.key === 'Enter') buttons()[0]?.click();
		else if (by) (buttons()[at + by] ?? (by < 0 ? filter : e.target)).focus();
		else return;
		e.preventDefault();
	});
});
