// While one reads an issue or pull request, what others do appears in it. A stream of events says when there is something
// new; then the page is loaded again, and its pieces that are new or others are put into this one: where somebody types,
// selects or has a menu open, once that is over. This file comes first, to know the pieces before others change them.
const live = document.querySelector('[data-stream]');

// plain is a piece's HTML without what changes with the time of the day.
function plain(piece) {
	const copy = piece.cloneNode(true);
	copy.querySelectorAll('time').forEach((t) => { t.removeAttribute('title'); t.textContent = ''; });
	return copy.outerHTML;
}

// entryKey names an entry of a conversation, as its copy in another load of the page.
const entryKey = (li) => (li.matches('.gap') ? '' : li.id || li.querySelector('[id]')?.id || li.querySelector('.committed a[href*="/commit/"]')?.href || plain(li));
const entriesOf = (root) => [...root.querySelectorAll('.timeline > li')];
const piecesOf = (root) => new Map([...root.querySelectorAll('[data-live], .thread > article')].map((n) => [n.dataset.live ?? n.id, n]));

const shown = new Map(); // the HTML of each piece, as it came
if (live) {
	piecesOf(document).forEach((piece, name) => shown.set(name, plain(piece)));
	entriesOf(document).forEach((li) => shown.set(entryKey(li), plain(li)));
}

// busy reports whether somebody does something in a piece that a new one would end.
function busy(piece) {
	const at = document.activeElement, chosen = getSelection();
	return at !== document.body && piece.contains(at) || !chosen.isCollapsed && chosen.containsNode(piece, true) ||
		piece.querySelector('details.menu[open], details.reply[open], [data-piece] textarea') !== null ||
		[...piece.querySelectorAll('input, textarea')].some((n) => n.type !== 'hidden' && (n.value !== n.defaultValue || n.checked !== n.defaultChecked));
}

// swap puts a new piece in the place of one, unless somebody is busy there. Parts that were open stay so.
function swap(name, old, fresh) {
	const html = plain(fresh);
	if (shown.get(name) === html) return true;
	if (busy(old)) return false;
	const open = [...old.querySelectorAll('details')], now = [...fresh.querySelectorAll('details')];
	if (open.length === now.length) now.forEach((d, n) => { d.open = open[n].open; });
	old.replaceWith(fresh);
	shown.set(name, html);
	enliven(fresh);
	return true;
}

// still runs fn without moving what one looks at.
function still(fn) {
	const root = document.documentElement, places = () => [...document.querySelectorAll('.thread > article, .timeline > li, .compose')];
	const focus = document.activeElement, seen = (n) => n.getBoundingClientRect().bottom > 0;
	const at = focus !== document.body && seen(focus) ? focus : places().find(seen);
	const top = at?.getBoundingClientRect().top, moved = scrollY > 0;
	root.style.overflowAnchor = 'none';
	fn();
	if (moved && at?.isConnected) scrollBy({ top: at.getBoundingClientRect().top - top, behavior: 'instant' });
	root.style.overflowAnchor = '';
}

// update brings the page up to date with another load of it. It reports whether that is whole.
function update(page) {
	let whole = true, more = 0;
	const state = () => document.querySelector('.state')?.textContent.trim(), before = state();
	still(() => {
		const now = piecesOf(document);
		piecesOf(page).forEach((fresh, name) => {
			const old = now.get(name);
			if (old && !swap(name, old, document.importNode(fresh, true))) whole = false;
		});
		let list = document.querySelector('.timeline');
		const entries = entriesOf(page), keep = new Set(entries.map(entryKey));
		if (!list && entries.length > 0) {
			list = document.createElement('ol');
			list.className = 'timeline';
			document.querySelector('.thread').append(list);
		}
		const have = new Map(entriesOf(document).map((li) => [entryKey(li), li]));
		let last = null;
		for (const from of entries) {
			const key = entryKey(from), old = have.get(key), fresh = document.importNode(from, true);
			if (key === '') { last = have.get('') ?? last; continue; } // entries that are left out
			if (old) {
				if (!swap(key, old, fresh)) whole = false;
				last = old.isConnected ? old : fresh;
				continue;
			}
			if (last) last.after(fresh); else list.prepend(fresh);
			shown.set(key, plain(fresh));
			enliven(fresh);
			last = fresh;
			if (fresh.querySelector('article, .reviewed')) more++;
		}
		if (keep.has('')) return; // there are others
		have.forEach((li, key) => {
			if (keep.has(key) || key === '') return;
			if (busy(li)) { whole = false; return; }
			li.remove();
			shown.delete(key);
		});
	});
	const says = [];
	if (more > 0) says.push(more === 1 ? 'One new comment.' : `${more} new comments.`);
	if (state() !== before) says.push(`This is now ${state()}.`);
	if (says.length > 0) tell.textContent = says.join(' ');
	return whole;
}

const tell = document.createElement('p');
if (live) {
	tell.className = 'hide';
	tell.id = 'live';
	tell.setAttribute('role', 'status');
	document.querySelector('main').append(tell);

	let stream = null, mark = live.dataset.mark, late = 5000, timer = null, asked = 0, waiting = null;
	const refresh = async () => {
		timer = null;
		asked = Date.now();
		const page = await load(location.href.split('#')[0]).catch(() => null);
		if (page?.querySelector('[data-stream]')) waiting = update(page) ? null : page;
	};
	// Many events are one load; readers of one page do not all load it at the same moment.
	const soon = () => { timer ??= setTimeout(refresh, Math.max(asked + 3000 - Date.now(), 300 * Math.random())); };
	const close = () => { stream?.close(); stream = null; };
	const open = () => {
		if (document.hidden || stream) return;
		stream = new EventSource(`${live.dataset.stream}?since=${mark}`);
		stream.addEventListener('open', () => { late = 5000; });
		stream.addEventListener('message', (e) => { mark = e.lastEventId; soon(); });
		stream.addEventListener('error', () => {
			if (stream?.readyState !== EventSource.CLOSED) return; // the browser opens it again
			close();
			setTimeout(open, late);
			late = Math.min(2 * late, 300000);
		});
	};
	// Browsers have few connections to a site: tabs that nobody sees have none of these.
	document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else open(); });
	addEventListener('pagehide', close);
	addEventListener('pageshow', open);
	setInterval(() => { if (waiting && update(waiting)) waiting = null; }, 2000);
}
