// What makes pages nicer; each works without it. Rooms have their own files beside this one, all one module.

// on runs fn for each element that matches, also those that come later with pieces of pages.
const readers = [];
function on(selector, fn) {
	readers.push([selector, fn]);
	document.querySelectorAll(selector).forEach(fn);
}

// enliven does for a new piece of the page what on did for the page.
function enliven(piece) {
	for (const [selector, fn] of readers) {
		if (piece.matches?.(selector)) fn(piece);
		piece.querySelectorAll(selector).forEach(fn);
	}
}

// A button that copies the value of the field before it.
on('.copy', (box) => {
	const field = box.querySelector('input');
	const button = document.createElement('button');
	button.type = 'button';
	button.textContent = 'Copy';
	button.addEventListener('click', async () => {
		field.select();
		try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand('copy'); }
		button.textContent = 'Copied';
		setTimeout(() => { button.textContent = 'Copy'; }, 1500);
	});
	box.append(button);
});

// Times are those of the reader's time zone. Without a script they are UTC.
on('time[datetime]', (time) => {
	const at = new Date(time.dateTime);
	time.title = at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
	if (time.textContent.startsWith('on ')) time.textContent = `on ${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })}`;
});

// The message about a form is shown once, also where the browser keeps the page for the back button.
addEventListener('pagehide', () => document.querySelectorAll('[data-once]').forEach((note) => note.remove()));

// Menus close when one clicks elsewhere or presses Escape.
document.addEventListener('click', (e) => {
	document.querySelectorAll('details.menu[open]').forEach((m) => { if (!m.contains(e.target)) m.open = false; });
});
document.addEventListener('keydown', (e) => {
	if (e.key === 'Escape') {
		document.querySelectorAll('details.menu[open]').forEach((m) => { m.open = false; m.querySelector('summary').focus(); });
	}
});

// Ctrl+Enter in a text sends its form.
document.addEventListener('keydown', (e) => {
	if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && e.target.matches('textarea')) e.target.form?.requestSubmit();
});

// A form that is sent by itself.
on('form[data-go]', (form) => form.submit());

// Forms that cannot be undone ask first.
on('form[data-confirm]', (form) => form.addEventListener('submit', (e) => {
	if (!confirm(form.dataset.confirm)) e.preventDefault();
}));

// Typing or ticking in a part of a form chooses the radio button that the part belongs to; another button empties its field.
on('[data-chooses]', (part) => {
	const choice = document.getElementById(part.dataset.chooses), field = part.querySelector('input:not([type=checkbox])');
	let kept = '';
	part.addEventListener('input', () => { choice.checked = true; });
	choice.form.addEventListener('change', (e) => {
		if (!field || e.target.name !== choice.name) return;
		if (choice.checked) field.value ||= kept; else [kept, field.value] = [field.value, ''];
	});
});

// typed reports whether the page has text that was not sent yet.
const typed = () => [...document.querySelectorAll('textarea, input')].some((field) => field.type !== 'hidden' && field.value !== field.defaultValue);

// notSaved reloads the page after a change without a page load failed. Where that would lose a text, it undoes the change.
function notSaved(undo) {
	if (!typed()) { location.reload(); return; }
	undo();
	alert('This was not saved. Send or copy what you have written, and load the page again.');
}

// The browser asks before a text is lost: one that was typed and not sent, or that a page shows again after its form was
// not taken. The form that is being sent loses nothing.
let sent = null;
addEventListener('submit', (e) => { sent = e.defaultPrevented ? null : e.target; });
addEventListener('pageshow', () => { sent = null; });
const unsent = (text) => text.form?.method === 'post' && text.form !== sent && text.value.trim() !== '' &&
	(text.value !== text.defaultValue || text.form.matches('[data-unsent]'));
addEventListener('beforeunload', (e) => { if ([...document.querySelectorAll('textarea')].some(unsent)) e.preventDefault(); });
