// Pull requests: files are marked as viewed, and lines take comments.
on('#viewed', (form) => form.addEventListener('submit', async (e) => {
	const button = e.submitter, was = button.name === 'unview';
	e.preventDefault();
	const body = new URLSearchParams(new FormData(form, button));
	const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' }).catch(() => null);
	if (!answer || answer.type !== 'opaqueredirect') { notSaved(() => {}); return; }
	button.name = was ? 'view' : 'unview';
	button.setAttribute('aria-checked', !was);
	const count = document.querySelector('#viewcount > span');
	if (count) count.textContent = +count.textContent + (was ? -1 : 1);
	markTree();
	const fold = button.closest('.difffile').querySelector('.fold');
	if (fold && (fold.getAttribute('aria-expanded') === 'true') !== was) fold.click();
}));

// A button beside the line under the pointer opens the form below it; drawn to another line, it takes both and what is
// between them.
const lineForm = document.getElementById('line-form');
let forms = 0;
function newForm(values, title) {
	const form = lineForm.content.cloneNode(true).querySelector('form');
	form.querySelectorAll('[id], [for]').forEach((n) => { n.id &&= `${n.id}-${forms}`; n.htmlFor &&= `${n.htmlFor}-${forms}`; });
	form.id = `new-line-comment-${forms++}`;
	for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
	form.elements.start.parentNode.hidden = !values.line;
	form.elements.start.placeholder = values.line;
	form.querySelector('[data-lines]').textContent = title;
	return form;
}
// showForm shows a form in a box of its own.
function showForm(form, box) {
	const cancel = document.createElement('button');
	cancel.type = 'button';
	cancel.textContent = 'Cancel';
	form.querySelector('.row.end').prepend(cancel);
	cancel.addEventListener('click', () => box.remove());
	enliven(box);
	form.querySelector('textarea').focus();
}
function openForm(table, from, to) {
	const [first, last] = from.side === to.side && from.line > to.line ? [to, from] : [from, to];
	const several = first.side === last.side && first.line !== last.line;
	const form = newForm({ path: pathOf(table.closest('.difffile')), side: last.side, line: last.line, start: several ? first.line : '' },
		`to line ${last.line}`);
	const under = document.createElement('tr');
	under.className = 'under';
	under.insertCell().colSpan = table.matches('.two') ? 4 : 3;
	under.cells[0].append(form);
	let after = last.row;
	while (after.nextElementSibling?.matches('.under')) after = after.nextElementSibling;
	after.after(under);
	showForm(form, under);
}
// A comment on a file is written above its lines.
if (lineForm) on('a[data-talk]', (a) => a.addEventListener('click', (e) => {
	e.preventDefault();
	const file = a.closest('.difffile'), open = file.querySelector(':scope > .filetalk textarea');
	if (open) { open.focus(); return; }
	const box = document.createElement('div');
	box.className = 'in filetalk';
	box.append(newForm({ path: pathOf(file), line: '', start: '' }, 'The whole file'));
	file.querySelector('header').after(box);
	if (file.matches('.shut')) file.querySelector('.fold').click();
	showForm(box.firstChild, box);
}));
if (lineForm) on('.difffile table.diff', (table) => {
	const button = document.createElement('button');
	button.type = 'button';
	button.className = 'addnote main';
	button.textContent = '+';
	let at = null;
	table.addEventListener('mouseover', (e) => {
		const place = !button.matches(':active') && placeOf(e.target, table);
		if (!place || place.cell === button.parentNode) return;
		at = place;
		button.setAttribute('aria-label', `Comment on line ${place.line}`);
		place.cell.append(button);
	});
	button.addEventListener('pointerdown', (e) => {
		e.preventDefault();
		const from = at;
		document.addEventListener('pointerup', (up) => openForm(table, from, placeOf(up.target, table) ?? from), { once: true });
	});
	button.addEventListener('click', (e) => {
		e.stopPropagation();
		if (e.detail === 0) openForm(table, at, at);
	});
});

// The lines that a comment is about go into its text as a suggestion. Old lines have none.
on('[data-suggest]', (button) => {
	const { side, line, start, body } = button.form.elements, table = button.closest('table.diff');
	button.hidden = !table || !line.value || side.value !== 'RIGHT';
	start.addEventListener('input', () => start.setCustomValidity(''));
	button.addEventListener('click', () => {
		const texts = new Map(), chosen = [];
		for (const row of table.rows) {
			const at = row.cells.length === 4 ? 2 : 1;
			if (!row.matches('.far, .under, .h')) texts.set(parseInt(row.cells[at].textContent), row.cells[at + 1].textContent.replace(/\n$/, ''));
		}
		const [first, last] = [+start.value || +line.value, +line.value].sort((a, b) => a - b);
		for (let n = first; n <= last && texts.has(n); n++) chosen.push(texts.get(n));
		const cut = chosen.some((text) => text.length > 1000 && text.endsWith(' …'));
		if (cut || chosen.length < last - first + 1) {
			start.setCustomValidity(cut ? 'A line is too long for a suggestion.' : 'Not all of these lines are shown.');
			start.reportValidity();
			return;
		}
		const text = chosen.join('\n'), ticks = (text.match(/`+/g) ?? []).map((run) => run.length + 1);
		const fence = '`'.repeat(Math.max(3, ...ticks));
		body.selectionStart = body.selectionEnd;
		put(body, `\n${fence}suggestion\n${text}\n${fence}\n`, '');
	});
});
