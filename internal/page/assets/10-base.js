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

// toClipboard copies a text, or the promise of one: some browsers forbid it after a wait, unless they get the promise.
// Without TLS there is no clipboard but the old command.
async function toClipboard(text) {
	if (navigator.clipboard) {
		await navigator.clipboard.write([new ClipboardItem({ 'text/plain': Promise.resolve(text).then((t) => new Blob([t], { type: 'text/plain' })) })]);
		return;
	}
	const field = document.createElement('textarea'), focused = document.activeElement;
	field.value = await text;
	(focused.closest('dialog') ?? document.body).append(field);
	field.select();
	document.execCommand('copy');
	field.remove();
	focused.focus();
}

// copier makes a button copy what() to the clipboard, and say so.
function copier(button, what) {
	const label = button.getAttribute('aria-label');
	button.hidden = false;
	button.addEventListener('click', async () => {
		try { await toClipboard(what()); } catch { return; }
		button.classList.add('copied');
		button.setAttribute('aria-label', 'Copied');
		setTimeout(() => {
			button.classList.remove('copied');
			if (label) button.setAttribute('aria-label', label); else button.removeAttribute('aria-label');
		}, 1500);
	});
}

// copyButton returns a new button that copies.
function copyButton(what) {
	const button = document.createElement('button');
	button.type = 'button';
	button.className = 'small copies';
	button.textContent = 'Copy';
	copier(button, what);
	return button;
}

// What can be copied: a text, a file by its address, the field of a box, a block of commands.
on('[data-copy]', (button) => copier(button, () => button.dataset.copy));
on('[data-copy-file]', (button) => copier(button, async () => {
	const answer = await fetch(button.dataset.copyFile);
	if (!answer.ok) throw new Error(answer.statusText);
	return answer.text();
}));
on('.copy', (box) => { const field = box.querySelector('input'); box.append(copyButton(() => { field.select(); return field.value; })); });
on('pre[data-copies]', (pre) => { const text = pre.textContent; pre.prepend(copyButton(() => text)); });

// Times are those of the time zone that the reader chose, else of the browser's. Dates without a time stay.
if (!document.documentElement.dataset.zone) on('time[datetime*=T]', (time) => {
	const at = new Date(time.dateTime);
	time.title = at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
	if (time.textContent.startsWith('on ')) time.textContent = `on ${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })}`;
});

// The browser's own time zone is chosen with one click.
on('[data-zones]', (list) => {
	const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (!here || list.value === here) return;
	const button = document.createElement('button');
	button.type = 'button';
	button.textContent = `Use ${here}`;
	button.addEventListener('click', () => {
		if (![...list.options].some((o) => o.value === here)) list.add(new Option(here));
		list.value = here;
	});
	list.after(' ', button);
});

// The message about a form is shown once, also where the browser keeps the page for the back button.
addEventListener('pagehide', () => document.querySelectorAll('[data-once]').forEach((note) => note.remove()));

// A menu that would reach out of the window is moved into it.
document.addEventListener('toggle', (e) => {
	const box = e.target.matches('details.menu[open]') && e.target.querySelector(':scope > div');
	if (!box) return;
	box.style.translate = '';
	const { left, right } = box.getBoundingClientRect(), gap = 8;
	const by = Math.max(gap - left, Math.min(0, document.documentElement.clientWidth - gap - right));
	if (left < 0 || by < 0) box.style.translate = `${by}px`;
}, true);

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

// The current tab is in view where not all tabs fit.
on('.tabs a[aria-current], .side > nav a[aria-current]', (tab) => {
	const bar = tab.parentElement, over = tab.offsetLeft - bar.offsetLeft + tab.offsetWidth - bar.clientWidth;
	if (over > 0) bar.scrollLeft = over + 24;
});
