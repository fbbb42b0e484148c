// Conversations: menus that load their forms, texts edited in their place, tasks, and the editor of Markdown.

// load reads a page of this site and gives its document, or nothing.
async function load(address, options) {
	const answer = await fetch(address, { headers: { Accept: 'text/html' }, ...options });
	if (!answer.ok) throw new Error(answer.status);
	return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

// A menu that holds a link to a form gets the form itself when it is opened.
on('details[data-load]', (menu) => menu.addEventListener('toggle', async () => {
	if (!menu.open || menu.dataset.loaded) return;
	menu.dataset.loaded = '1';
	try {
		const piece = (await load(menu.dataset.load)).querySelector('[data-piece]');
		if (!piece) return;
		menu.lastElementChild.replaceChildren(piece);
		enliven(piece);
		piece.querySelector('input:not([type=hidden]), button, select, a')?.focus();
	} catch { delete menu.dataset.loaded; }
}));

// A text is edited where it stands.
on('a[data-edit]', (link) => link.addEventListener('click', async (e) => {
	const inside = link.closest('article')?.querySelector('.in');
	if (!inside) return;
	e.preventDefault();
	link.closest('details').open = false;
	const open = () => inside.querySelector('[data-piece] textarea'); // it is being edited already
	const form = open() ? null : await load(link.href).then((d) => d.querySelector('[data-piece]')).catch(() => null);
	if (open()) { open().focus(); return; }
	if (!form) { location = link.href; return; }
	const kept = [...inside.childNodes];
	inside.replaceChildren(form);
	for (const field of form.querySelectorAll('[id]')) { // the page may hold the same form twice
		const label = form.querySelector(`label[for="${field.id}"]`);
		field.id += '-' + link.closest('article').id;
		if (label) label.htmlFor = field.id;
	}
	enliven(form);
	form.querySelector('[data-cancel]').addEventListener('click', (c) => { c.preventDefault(); inside.replaceChildren(...kept); });
	form.querySelector('textarea').focus();
}));

on('a[data-copy-link]', (link) => link.addEventListener('click', () => {
	navigator.clipboard?.writeText(link.href);
	link.closest('details').open = false;
}));

// A quote of the selection, or of the whole text, is added to the comment that is being written.
on('a[data-quote]', (link) => link.addEventListener('click', async (e) => {
	const field = document.querySelector('#new-comment textarea');
	if (!field) return;
	e.preventDefault();
	link.closest('details').open = false;
	const chosen = getSelection(), text = String(chosen).trim();
	const quote = text && document.getElementById(link.dataset.quote)?.contains(chosen.anchorNode) ? text.replace(/^/gm, '> ') + '\n\n'
		: await load(link.href).then((page) => page.querySelector('#new-comment textarea').value).catch(() => '');
	if (!quote) { if (!typed()) location = link.href; return; }
	const gap = field.value && !field.value.endsWith('\n\n') ? '\n\n' : '';
	field.setRangeText(gap + quote, field.value.length, field.value.length, 'end');
	field.focus();
}));

// A task is ticked without leaving the page. The answer is the page as it is then.
on('form[data-tasks]', (form) => form.addEventListener('submit', async (e) => {
	e.preventDefault();
	const body = new URLSearchParams(new FormData(form, e.submitter));
	const box = form.closest('article');
	e.submitter.ariaChecked = e.submitter.ariaChecked !== 'true';
	try {
		const fresh = (await load(form.action, { method: 'POST', body })).getElementById(box.id);
		if (!fresh) throw new Error();
		box.querySelector('.in').replaceWith(fresh.querySelector('.in'));
		enliven(box.querySelector('.in'));
		box.querySelector(`.task[value="${body.get('task')}"]`)?.focus();
	} catch { notSaved(() => { e.submitter.ariaChecked = e.submitter.ariaChecked !== 'true'; }); }
}));

// What is hidden of a long conversation comes in part by part.
async function fill(gap) {
	const items = (await load('?page=' + gap.dataset.next)).querySelectorAll('.timeline > li');
	for (const item of items) { gap.before(item); enliven(item); }
	if (+gap.dataset.next + 1 >= +gap.dataset.last) gap.remove(); else gap.querySelector('a').href = '?page=' + ++gap.dataset.next;
}
on('.gap', (gap) => {
	gap.querySelector('a').addEventListener('click', (e) => { e.preventDefault(); fill(gap); });
	(async () => { // the address names a comment that is hidden
		const id = decodeURIComponent(location.hash.slice(1));
		if (!/^(issuecomment|event|pullrequestreview|discussion_r)/.test(id)) return;
		while (gap.isConnected && !document.getElementById(id)) await fill(gap);
		document.getElementById(id)?.scrollIntoView();
	})().catch(() => {});
});

// The editor: a toolbar, a preview, and what completes @, # and : (21-hints.js).
const tools = [
	['{{icon-bold}}', 'Bold', '**', '**'], ['{{icon-italic}}', 'Italic', '_', '_'], ['{{icon-heading}}', 'Heading', '\n### ', ''],
	['{{icon-quote}}', 'Quote', '\n> ', ''], ['{{icon-code}}', 'Code', '`', '`'], ['{{icon-link}}', 'Link', '[', '](url)'],
	['{{icon-list}}', 'List', '\n- ', ''], ['{{icon-numbers}}', 'Numbered list', '\n1. ', ''], ['{{icon-tasks}}', 'Task list', '\n- [ ] ', ''],
	['{{icon-mention}}', 'Mention', '@', ''],
];
const keys = { b: 0, i: 1, e: 4, k: 5 };

// write replaces a part of a field in which somebody may be typing. The caret and the selection stay where they are; a
// caret within the replaced part moves behind the new text.
function write(field, text, from, to) {
	const moved = (at) => (at <= from ? at : Math.max(at, to) + text.length - (to - from));
	const { selectionStart, selectionEnd, selectionDirection } = field;
	field.setRangeText(text, from, to);
	field.setSelectionRange(moved(selectionStart), moved(selectionEnd), selectionDirection);
}

function put(field, before, after) {
	field.focus();
	const { selectionStart: from, selectionEnd: to, value } = field;
	let chosen = value.slice(from, to);
	if (before[0] === '\n') {
		const mark = before.slice(1);
		chosen = chosen.split('\n').map((line) => mark + line).join('\n');
		before = from === 0 || value[from - 1] === '\n' ? '' : '\n';
	}
	if (!document.execCommand('insertText', false, before + chosen + after)) field.setRangeText(before + chosen + after, from, to, 'end');
	if (before && from === to && after) field.selectionEnd = field.selectionStart = from + before.length;
	field.dispatchEvent(new Event('input', { bubbles: true }));
}

on('.editor', (box) => {
	const field = box.querySelector('textarea');
	const bar = document.createElement('div');
	bar.className = 'bar';
	bar.setAttribute('role', 'toolbar');
	bar.setAttribute('aria-label', 'Formatting');
	const button = (markup, name, fn) => {
		const b = document.createElement('button');
		b.type = 'button';
		b.innerHTML = markup;
		if (name) { b.title = name; b.setAttribute('aria-label', name); }
		b.addEventListener('click', () => fn(b));
		bar.append(b);
		return b;
	};
	for (const [icon, name, before, after] of tools) button(icon, name, () => put(field, before, after));
	if (box.dataset.repo) {
		const seen = document.createElement('div');
		seen.className = 'seen said';
		seen.hidden = true;
		seen.setAttribute('aria-live', 'polite');
		button('Preview', '', async (b) => {
			seen.hidden = !seen.hidden;
			field.hidden = !seen.hidden;
			b.setAttribute('aria-pressed', String(field.hidden));
			b.textContent = field.hidden ? 'Write' : 'Preview';
			if (!field.hidden) { field.focus(); return; }
			seen.textContent = '…';
			try {
				const body = new URLSearchParams({ text: field.value });
				seen.replaceChildren(...(await load(`/${box.dataset.repo}/preview`, { method: 'POST', body })).body.childNodes);
				enliven(seen);
			} catch { seen.textContent = 'The preview cannot be shown now.'; }
		}).classList.add('right');
		field.after(seen);
		hints(box, field);
	}
	field.before(bar);
	attaching(box, field);
	field.addEventListener('keydown', (e) => {
		if (!(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || keys[e.key] === undefined) return;
		e.preventDefault();
		put(field, tools[keys[e.key]][2], tools[keys[e.key]][3]);
	});
});

// attaching uploads what is pasted, dropped or chosen. A mark holds the place in the text until the address is known.
function attaching(box, field) {
	const link = box.querySelector('.attach');
	if (!link) return;
	const said = document.createElement('span');
	said.role = 'status';
	link.after(' ', said);
	const pick = document.createElement('input');
	pick.type = 'file';
	pick.multiple = true;
	let busy = 0, count = 0;
	let composing; // resolves when an input method has composed its word: a change of the text before would double it
	field.addEventListener('compositionstart', () => {
		composing = new Promise((done) => field.addEventListener('compositionend', done, { once: true }));
	});
	const swap = async (mark, text, say) => {
		await composing;
		const at = field.value.indexOf(mark), end = field.value.length;
		if (at < 0) write(field, text, end, end); else write(field, text, at, at + mark.length);
		said.textContent = say;
		busy--;
	};
	const send = async (file) => {
		const mark = `<!-- Uploading file ${++count}… -->\n`;
		field.setRangeText(mark, field.selectionEnd, field.selectionEnd, 'end');
		busy++;
		said.textContent = `Uploading ${file.name}…`;
		try {
			if (file.size > 25 << 20) throw new Error('A file may have at most 25 MiB.');
			const body = new FormData();
			body.set('file', file);
			const answer = await fetch(link.href, { method: 'POST', body, headers: { Accept: 'application/json' } });
			const told = await answer.json();
			if (!answer.ok) throw new Error(told.errors?.[0]?.message || told.message);
			await swap(mark, told.markdown + '\n', `${file.name} is attached.`);
		} catch (e) { await swap(mark, '', `${file.name} could not be attached. ${e.message}`); }
	};
	const take = (e, files) => {
		if (!files.length) return;
		e.preventDefault();
		[...files].forEach(send);
	};
	link.addEventListener('click', (e) => { e.preventDefault(); pick.click(); });
	pick.addEventListener('change', (e) => { take(e, pick.files); pick.value = ''; });
	field.addEventListener('paste', (e) => { if (!e.clipboardData.types.includes('text/rtf')) take(e, e.clipboardData.files); }); // a table has a picture, too
	field.addEventListener('dragover', (e) => { if (e.dataTransfer.types.includes('Files')) e.preventDefault(); });
	field.addEventListener('drop', (e) => take(e, e.dataTransfer.files));
	field.form?.addEventListener('submit', (e) => {
		if (!busy) return;
		e.preventDefault();
		said.textContent = 'Wait until the file is uploaded.';
	});
}
