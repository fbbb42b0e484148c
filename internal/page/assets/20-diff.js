// Changed files: collapsed ones open in their place, files fold, and numbers are links to their lines.
on('a[data-show]', (a) => a.addEventListener('click', async (e) => {
	e.preventDefault();
	const file = a.closest('.difffile');
	const answer = await fetch(a.href, { headers: { Accept: 'text/html' } }).catch(() => null);
	const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(file.id);
	if (!fresh) { location.href = a.href; return; }
	const talk = file.querySelectorAll(':scope > .filetalk'); // somebody may be writing in it
	file.replaceWith(fresh);
	enliven(fresh);
	fresh.querySelector('header').after(...talk);
}));
const pathOf = (file) => file.querySelector('h3 bdi:last-child').textContent;
on('.difffile', (file) => {
	const button = document.createElement('button');
	button.className = 'plain fold';
	const fold = (shut) => {
		file.classList.toggle('shut', shut);
		button.innerHTML = shut ? '{{icon-shut}}' : '{{icon-open}}';
		button.setAttribute('aria-expanded', !shut);
	};
	button.type = 'button';
	button.setAttribute('aria-label', `Lines of ${pathOf(file)}`);
	button.addEventListener('click', () => fold(!file.classList.contains('shut')));
	fold(false);
	file.querySelector('header').prepend(button);
});
// The line that a cell of a diff belongs to, in the API's words; null: none.
function placeOf(target, table) {
	const row = target.closest?.('tr');
	if (!row || row.closest('table') !== table || row.matches('.h, .under, .far')) return null;
	const two = table.matches('.two');
	const left = two ? target.closest('td').cellIndex < 2 : row.matches('.d');
	const cell = row.cells[two ? (left ? 0 : 2) : (left ? 0 : 1)], line = parseInt(cell?.textContent);
	return line ? { row, cell, side: left ? 'LEFT' : 'RIGHT', line } : null;
}
// Numbers lead to their lines: #diff-FILER7 is line 7 of the new file, with L of the old one.
document.addEventListener('click', (e) => {
	const file = e.target.matches('.difffile .diff td') && e.target.closest('.difffile'), place = file && placeOf(e.target, e.target.closest('table'));
	if (place?.cell === e.target) location.hash = `${file.id}${place.side[0]}${place.line}`;
});
function markDiffLine() {
	const at = /^#(diff-[0-9a-f]+)([LR])(\d+)$/.exec(location.hash);
	document.querySelectorAll('.diff tr.on').forEach((row) => row.classList.remove('on'));
	const table = at && document.getElementById(at[1])?.querySelector('.diff');
	if (!table) return;
	const column = at[2] === 'L' ? 0 : table.matches('.two') ? 2 : 1;
	const row = [...table.rows].find((r) => r.cells.length > 2 && parseInt(r.cells[column].textContent) === +at[3]);
	row?.classList.add('on');
	row?.scrollIntoView({ block: 'center' });
}
addEventListener('hashchange', markDiffLine);
on('.diffs', markDiffLine);

// Colours that took too long for the page come later, and change nothing else in it.
on('.diffs[data-later]', async (diffs) => {
	const cells = (file) => [...file?.querySelectorAll('table.diff > tbody > tr:not(.under, .far, .h) > td') ?? []];
	for (let times = 0, address = diffs.dataset.later; address && times < 8; times++) {
		const answer = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
		if (!answer?.ok) return;
		const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
		for (const file of diffs.querySelectorAll('.difffile')) {
			const mine = cells(file), theirs = cells(fresh.getElementById(file.id));
			if (mine.length === theirs.length) mine.forEach((cell, n) => {
				if (theirs[n].firstElementChild && theirs[n].textContent === cell.textContent) cell.replaceChildren(...theirs[n].childNodes);
			});
		}
		address = fresh.querySelector('.diffs')?.dataset.later;
	}
});

// The tree of all changed files, made of the menu's list: folders with one entry are joined to it.
on('nav.tree', (nav) => {
	const folder = () => ({ folders: new Map(), files: [] }), root = folder();
	for (const a of document.querySelectorAll('.filemenu li > a')) {
		const parts = a.querySelector('bdi').textContent.split('/'), name = parts.pop();
		let at = root;
		for (const part of parts) {
			if (!at.folders.has(part)) at.folders.set(part, folder());
			at = at.folders.get(part);
		}
		at.files.push([name, a]);
	}
	const list = (of) => {
		const ul = document.createElement('ul');
		for (let [name, inside] of of.folders) {
			while (inside.folders.size === 1 && inside.files.length === 0) {
				const [[more, next]] = inside.folders;
				[name, inside] = [`${name}/${more}`, next];
			}
			const details = document.createElement('details'), summary = document.createElement('summary');
			details.open = true;
			summary.textContent = name;
			details.append(summary, list(inside));
			ul.append(document.createElement('li'));
			ul.lastChild.append(details);
		}
		for (const [name, a] of of.files) {
			const link = a.cloneNode(true);
			link.querySelector('bdi').textContent = name;
			ul.append(document.createElement('li'));
			ul.lastChild.append(link);
		}
		return ul;
	};
	nav.append(list(root));
	markTree();
});
// Files in the tree show whether they are viewed, and how many conversations are in them.
function markTree() {
	for (const a of document.querySelectorAll('.tree a[href^="#"]')) {
		const file = document.getElementById(a.hash.slice(1)), talks = file?.querySelectorAll('.reviewthread').length;
		a.parentNode.classList.toggle('seen', Boolean(file?.querySelector('button[name=unview]')));
		if (talks && !a.querySelector('.count')) a.insertAdjacentHTML('beforeend', `<span class="count" title="Conversations">${talks}</span>`);
	}
}

// Lines around hunks come from the file's own page: a few next to a hunk, or all between two of them.
const few = 20;
async function linesOf(address, from, to) {
	const cells = [];
	let page = null;
	for (let n = from; n <= to; n++) {
		if (!page?.getElementById(`L${n}`)) {
			const answer = await fetch(`${address}?plain=1&line=${n}`, { headers: { Accept: 'text/html' } }).catch(() => null);
			page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
		}
		const row = page?.getElementById(`L${n}`);
		if (!row) break;
		cells.push(row.lastElementChild);
	}
	return cells;
}
// headOf reads "@@ -3,4 +5,6 @@": the first and the last line of a hunk in both files.
function headOf(row) {
	const [, old, before, now, after] = /@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row.textContent) ?? [];
	const last = (from, count) => (count === '0' ? +from : +from + +(count ?? 1) - 1);
	return { old: +old + (before === '0'), now: +now + (after === '0'), oldEnd: last(old, before), end: last(now, after) };
}
on('.difffile table.diff', (table) => {
	const address = table.closest('.difffile').querySelector('[data-whole]')?.href, heads = [...table.querySelectorAll('tr.h')];
	if (!address || heads.length === 0) return;
	const two = table.matches('.two');
	const gap = (row, from, to, shift) => {
		const show = async (first, last, before) => {
			const cells = await linesOf(address, first, last);
			const rows = cells.map((cell, n) => {
				const line = document.createElement('tr'), now = first + n;
				line.className = 'far';
				for (const text of two ? [now + shift, cell.cloneNode(true), now, cell] : [now + shift, now, cell]) {
					const td = line.insertCell();
					if (text.childNodes) td.append(...text.childNodes); else td.textContent = text;
				}
				return line;
			});
			if (before) row.before(...rows); else row.after(...rows);
			if (before) from = first + rows.length; else to = first - 1;
			if (from > to || rows.length < last - first + 1) row.remove(); else draw();
		};
		const draw = () => {
			row.querySelectorAll('.more').forEach((b) => b.remove());
			const ends = Number.isFinite(to), choices = [];
			if (ends && to - from >= few) choices.push([`↑ ${few} lines`, `Show ${few} lines above`, () => show(to - few + 1, to, false)]);
			if (from > 1 && (!ends || to - from >= few)) choices.push([`↓ ${few} lines`, `Show ${few} more lines below`, () => show(from, from + few - 1, true)]);
			if (ends) choices.push([`All ${to - from + 1} lines`, `Show the ${to - from + 1} lines between`, () => show(from, to, true)]);
			const buttons = choices.map(([text, label, act]) => {
				const b = document.createElement('button');
				b.type = 'button';
				b.className = 'plain more';
				b.textContent = text;
				b.setAttribute('aria-label', label);
				b.addEventListener('click', act, { once: true });
				return b;
			});
			row.cells[0].prepend(...buttons);
		};
		if (from <= to) draw();
	};
	let end = 0, shift = 0;
	for (const row of heads) {
		const head = headOf(row);
		gap(row, end + 1, head.now - 1, head.old - head.now);
		end = head.end;
		shift = head.oldEnd - end;
	}
	const last = table.tBodies[0].insertRow();
	last.className = 'h';
	last.insertCell().colSpan = two ? 4 : 3;
	gap(last, end + 1, Infinity, shift);
});

// Two versions of a picture: side by side, one above the other with a border that moves, or one through the other.
on('.pictures', (box) => {
	const [, after] = box.querySelectorAll('figure');
	if (!after) return;
	const bar = document.createElement('div');
	bar.className = 'row';
	bar.innerHTML = '<select aria-label="How the pictures are compared"><option value="">Side by side</option><option value="swipe">Swipe</option><option value="onion">Onion skin</option></select><input type="range" value="50" aria-label="How much of the picture after the change is shown" hidden>';
	const [how, range] = bar.children;
	range.style.width = '16rem';
	const draw = () => {
		box.classList.toggle('over', how.value !== '');
		range.hidden = how.value === '';
		after.style.opacity = how.value === 'onion' ? range.value / 100 : '';
		after.style.clipPath = how.value === 'swipe' ? `inset(0 ${100 - range.value}% 0 0)` : '';
	};
	how.addEventListener('change', draw);
	range.addEventListener('input', draw);
	box.append(bar);
});
