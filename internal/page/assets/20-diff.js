// Changed files: collapsed ones open in their place, files fold, and numbers are links to their lines.
on('a[data-show]', (a) => a.addEventListener('click', async (e) => {
	e.preventDefault();
	const file = a.closest('.difffile');
	const answer = await fetch(a.href, { headers: { Accept: 'text/html' } }).catch(() => null);
	const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(file.id);
	const piece = a.dataset.show ? fresh?.querySelector?.(a.dataset.show) : fresh;
	if (!piece) { location.href = a.href; return; }
	const talk = !a.dataset.show && file.querySelector('.filetalk'); // somebody may be writing in it
	(a.dataset.show ? a : file).replaceWith(piece);
	enliven(piece);
	if (talk) piece.querySelector('.filetalk, [data-show=".filetalk"]')?.replaceWith(talk);
}));
const pathOf = (file) => file.querySelector('h3 bdi:last-child').textContent;
on('.difffile', (file) => {
	const button = document.createElement('button');
	button.className = 'plain fold';
	const fold = (shut) => {
		file.classList.toggle('shut', shut);
		button.textContent = shut ? '▸' : '▾';
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
	if (!row || row.closest('table') !== table || row.matches('.h, .under')) return null;
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
