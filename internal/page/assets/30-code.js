// A repository's code.

// Last commits that took long to find come later.
on('table[data-more]', async (table) => {
	const answer = await fetch(table.dataset.more, { headers: { Accept: 'text/html' } }).catch(() => null);
	const whole = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('section');
	if (whole) table.closest('section').replaceWith(whole);
});

// The tree of files stands beside the file on wide screens, unless the reader closed it there. Elsewhere its button opens it.
on('details.filetree', (tree) => {
	const wide = matchMedia('(min-width: 64rem)'), nav = tree.querySelector('nav');
	const toCurrent = () => {
		const at = nav.querySelector('[aria-current]');
		if (at) nav.scrollTop = Math.max(0, at.offsetTop - nav.clientHeight / 2);
	};
	tree.open = wide.matches && localStorage.getItem('files') !== 'closed';
	toCurrent();
	tree.addEventListener('toggle', () => {
		if (wide.matches) localStorage.setItem('files', tree.open ? 'open' : 'closed');
		if (tree.open) toCurrent();
	});
});

// A button before a folder shows its entries, which come when it is opened for the first time.
on('.filetree li.dir', (li) => {
	const link = li.querySelector('a'), tree = li.closest('.filetree'), button = document.createElement('button');
	const show = (open) => { button.setAttribute('aria-expanded', open); li.classList.toggle('shut', !open); };
	button.type = 'button';
	button.className = 'plain fold';
	button.innerHTML = '{{icon-shut}}';
	button.setAttribute('aria-label', `Files in ${link.textContent}`);
	link.before(button);
	show(Boolean(li.querySelector('ul')));
	button.addEventListener('click', async () => {
		const open = button.getAttribute('aria-expanded') === 'false';
		if (open && !li.querySelector('ul')) {
			const address = tree.dataset.folders + link.getAttribute('href').slice(tree.dataset.root.length);
			const answer = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
			const list = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('ul');
			if (!list || li.querySelector('ul')) return;
			li.append(list);
			enliven(list);
		}
		show(open);
	});
});

// Lines of a file: #L3 and #L3-L9, the second by Shift and a click. Those of another page of the file lead there.
function markLines() {
	const range = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash), table = document.querySelector('table.code');
	document.querySelectorAll('.code tr.on').forEach((row) => row.classList.remove('on'));
	if (!range || !table) return;
	const [from, to] = [+range[1], +(range[2] ?? range[1])].sort((a, b) => a - b), first = document.getElementById(`L${from}`);
	if (!first && table.dataset.per) {
		const at = new URL(location.href), now = at.searchParams.get('page') ?? '1', then = `${Math.ceil(from / table.dataset.per)}`;
		at.searchParams.set('page', then);
		if (now !== then) location.replace(at);
	}
	if (!range[2]) return;
	for (let n = from; n <= to && n < from + 10000; n++) document.getElementById(`L${n}`)?.classList.add('on');
	first?.scrollIntoView({ block: 'center' });
}
on('table.code', (table) => {
	table.addEventListener('click', (e) => {
		const link = e.target.closest('a[href^="#L"]');
		const first = /^#L(\d+)/.exec(location.hash);
		if (!link || !e.shiftKey || !first) return;
		e.preventDefault();
		const [from, to] = [+first[1], +link.hash.slice(2)].sort((a, b) => a - b);
		history.replaceState(null, '', `#L${from}-L${to}`);
		markLines();
	});
	markLines();
});
addEventListener('hashchange', markLines);
on('a[data-key=y], a[data-key=b]', (a) => a.addEventListener('click', () => { a.hash = location.hash; }));

// Menus of branches and tags are filtered.
on('input[data-filter]', (input) => {
	input.hidden = false;
	input.addEventListener('input', () => input.parentNode.querySelectorAll('li').forEach((li) => {
		li.hidden = !li.textContent.toLowerCase().includes(input.value.toLowerCase());
	}));
	input.closest('details').addEventListener('toggle', () => input.focus());
});

// Files are found while one types; arrows lead from one to the next, and Enter in the field to the first.
on('.findform', (form) => {
	let wait;
	form.parentNode.addEventListener('keydown', (e) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key], stops = [form.elements.q, ...document.querySelectorAll('.found li a')];
		if (!step || !stops.includes(document.activeElement)) return;
		e.preventDefault();
		stops[stops.indexOf(document.activeElement) + step]?.focus();
	});
	form.elements.q.addEventListener('input', () => {
		clearTimeout(wait);
		wait = setTimeout(async () => {
			const address = `${form.action}?q=${encodeURIComponent(form.elements.q.value)}`;
			const answer = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
			const list = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('.found');
			if (list) document.querySelector('.found').replaceChildren(...list.childNodes);
		}, 150);
	});
});

// How far a fork is from where it comes from takes git a while, so the page asks afterwards.
on('[data-behind]', async (line) => {
	const answer = await fetch(line.dataset.behind, { headers: { Accept: 'text/html' } }).catch(() => null);
	const said = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('.behind');
	if (said) line.replaceChildren(...said.childNodes);
});
