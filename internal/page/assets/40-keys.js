// Keys: ? lists them, Ctrl+K goes anywhere, and elements with data-key have their own, such as "t" or "g i".

// single reports whether keys without Ctrl work. They can be switched off, since speech input and slips press them.
const single = () => localStorage.getItem('keys') !== 'off';
let prefix = ''; // "g " for a second after g

document.addEventListener('keydown', (e) => {
	if (e.defaultPrevented || e.isComposing) return;
	if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key === 'k') {
		e.preventDefault();
		palette();
		return;
	}
	if (e.ctrlKey || e.metaKey || e.altKey || !single()) return;
	if (e.target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], .codeeditor, dialog')) return;
	const key = prefix + e.key;
	prefix = '';
	if (key === '?') listKeys();
	else if (key === 'g') { prefix = 'g '; setTimeout(() => { prefix = ''; }, 1000); return; }
	else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
	else if (key === 'x' && press(talkAt()?.querySelector('form[action$="/threads"] button'))) ; // of this conversation
	else if (!press(document.querySelector(`[data-key="${CSS.escape(key)}"]`))) return;
	e.preventDefault();
});

function press(target) {
	if (!target) return false;
	if (target.matches('input, textarea')) { target.scrollIntoView({ block: 'nearest' }); target.focus(); } else target.click();
	return true;
}

// here is what has the focus, or else what the address leads to.
const here = () => (document.activeElement === document.body ? document.querySelector(':target') : document.activeElement);
const talkAt = () => here()?.closest('.reviewthread');
// step moves the focus to the next or the previous row of a list, or conversation of a review. Enter follows its link.
function step(by) {
	const rows = [...document.querySelectorAll('.issuerow, .letter, .entries tbody tr, .list > li, .found li, .reviewthread')];
	const links = rows.map((row) => row.querySelector('a.title, h3 > a:not(.soft), td a, a')).filter((a) => a?.checkVisibility());
	const now = links.findIndex((link) => link.closest('li, tr, .reviewthread').contains(here()));
	links[now < 0 ? (by > 0 ? 0 : links.length - 1) : now + by]?.focus();
}

// dialog opens a new dialog, which is removed when it closes.
function dialog(name, label) {
	document.querySelectorAll('dialog').forEach((d) => d.close());
	const box = document.createElement('dialog');
	box.className = name;
	box.setAttribute('aria-label', label);
	box.addEventListener('close', () => box.remove());
	box.addEventListener('click', (e) => { if (e.target === box) box.close(); });
	document.body.append(box);
	return box;
}

function listKeys() {
	const box = dialog('keys', 'Keyboard shortcuts');
	const text = (n) => [...n.childNodes].filter((c) => !c.matches?.('.count')).map((c) => c.textContent).join('').trim();
	const named = (n) => n.title || n.getAttribute('aria-label')?.split(',')[0] || text(n);
	const own = [...document.querySelectorAll('[data-key]:not([aria-hidden])')].map((n) => [n.dataset.key, named(n)]);
	const rows = [['?', 'Show this list'], ['Ctrl K', 'Go to a page, repository, person or issue'], ['j', 'Next row of a list, or conversation of a review'],
		['k', 'Previous one'], ...document.querySelector('form[action$="/threads"]') ? [['x', 'Resolve or unresolve the conversation']] : [], ['Enter', 'Open the row'], ['Esc', 'Close a menu or dialog'], ['Ctrl Enter', 'Send a comment'], ...own];
	const list = document.createElement('dl');
	for (const [key, does] of rows) {
		const dt = document.createElement('dt'), dd = document.createElement('dd');
		for (const part of key.split(' ')) {
			const k = document.createElement('kbd');
			k.textContent = part;
			dt.append(k, ' ');
		}
		dd.textContent = does;
		list.append(dt, dd);
	}
	box.innerHTML = '<h2>Keyboard shortcuts</h2><label class="check"><input type="checkbox">Keys without Ctrl work in this browser</label>' +
		'<form method="dialog" class="row end"><button>Close</button></form>';
	box.querySelector('h2').after(list);
	const on = box.querySelector('input');
	on.checked = single();
	on.addEventListener('change', () => { if (on.checked) localStorage.removeItem('keys'); else localStorage.setItem('keys', 'off'); });
	box.showModal();
}

// palette finds pages while one types.
function palette() {
	const box = dialog('palette', 'Go to'), to = document.querySelector('a[data-palette]');
	box.innerHTML = '<input type="search" role="combobox" aria-label="Go to" aria-expanded="true" aria-controls="palette-list" ' +
		'aria-autocomplete="list" autocomplete="off" placeholder="Page, repository, person, #issue"><ul id="palette-list" role="listbox" aria-label="Pages"></ul>';
	const field = box.querySelector('input'), list = box.querySelector('ul');
	let asked = 0, timer;
	const mark = (n) => [...list.children].forEach((li, at) => {
		li.id = `palette-${at}`;
		li.role = 'option';
		li.ariaSelected = String(at === n);
		if (at !== n) return;
		field.setAttribute('aria-activedescendant', li.id);
		li.scrollIntoView({ block: 'nearest' });
	});
	const find = async () => {
		const turn = ++asked, address = new URL(to.href);
		address.searchParams.set('q', field.value);
		const found = await load(address).catch(() => null);
		if (!found || turn !== asked) return;
		list.replaceChildren(...found.querySelectorAll('.places li'));
		list.querySelectorAll('a').forEach((a) => { a.tabIndex = -1; });
		mark(0);
	};
	field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(find, 100); });
	field.addEventListener('keydown', (e) => {
		const now = [...list.children].findIndex((li) => li.ariaSelected === 'true');
		if (e.key === 'ArrowDown' || e.key === 'ArrowUp') mark((now + (e.key === 'ArrowDown' ? 1 : -1) + list.children.length) % list.children.length);
		else if (e.key === 'Enter' && !e.isComposing) list.children[now]?.querySelector('a').click();
		else return;
		e.preventDefault();
	});
	list.addEventListener('click', (e) => e.target.closest('li')?.querySelector('a').click());
	find();
	box.showModal();
}

on('a[data-keys]', (a) => a.addEventListener('click', (e) => { e.preventDefault(); listKeys(); }));
on('a[data-palette]', (a) => a.addEventListener('click', (e) => { e.preventDefault(); palette(); }));

// The address of an operation in the list of all leads on to its description.
function follow() {
	if (location.pathname !== '/docs') return;
	const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (line?.closest('.operations')) location.replace(line.querySelector('a').href);
}
addEventListener('hashchange', follow);
follow();
