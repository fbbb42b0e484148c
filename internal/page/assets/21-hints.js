// While a text is written, a list at the caret completes who is meant by @, which issue by # and which emoji by :.

// caretAt is where a character of a text stands in the window. A copy of the text that is not seen has the same lines.
function caretAt(field, index) {
	const copy = document.createElement('div'), mark = document.createElement('span'), style = getComputedStyle(field);
	for (const name of ['fontFamily', 'fontSize', 'fontWeight', 'lineHeight', 'letterSpacing', 'tabSize', 'direction', 'textAlign',
		'boxSizing', 'paddingTop', 'paddingRight', 'paddingBottom', 'paddingLeft']) copy.style[name] = style[name];
	Object.assign(copy.style, { position: 'fixed', top: '0', left: '0', visibility: 'hidden', whiteSpace: 'pre-wrap', overflowWrap: 'break-word',
		width: field.clientWidth + 'px' });
	mark.textContent = field.value.slice(index) || '.';
	copy.append(field.value.slice(0, index), mark);
	document.body.append(copy);
	const at = mark.getClientRects()[0], box = field.getBoundingClientRect();
	copy.remove();
	const top = box.top + field.clientTop + at.top - field.scrollTop;
	return { left: box.left + field.clientLeft + at.left, top, bottom: top + at.height };
}

// hints lets the list be used by pointer and by keys. It needs the address of a repository that suggests.
function hints(box, field) {
	const list = document.createElement('ul'), said = document.createElement('span');
	list.className = 'hints';
	list.id = field.id + '-hints';
	list.setAttribute('role', 'listbox');
	list.setAttribute('aria-label', 'Suggestions');
	list.hidden = true;
	said.className = 'hide';
	said.role = 'status';
	box.append(list, said);
	field.setAttribute('aria-controls', list.id);
	field.setAttribute('aria-autocomplete', 'list');
	field.setAttribute('aria-haspopup', 'listbox');
	let word = '', asking, timer;
	const wordNow = () => field.value.slice(0, field.selectionStart)
		.match(/(?:^|[\s(])(@[\w.-]{0,39}(?:\/[\w.-]{0,60})?|#[\w-]{0,39}|:[\w+-]{1,39})$/)?.[1] || '';
	const hide = () => {
		asking?.abort();
		list.hidden = true;
		list.replaceChildren();
		said.textContent = '';
		field.removeAttribute('aria-activedescendant');
	};
	const mark = (n) => [...list.children].forEach((li, at) => {
		li.id = list.id + '-' + at;
		li.setAttribute('aria-selected', String(at === n));
		if (at === n) field.setAttribute('aria-activedescendant', li.id);
	});
	// Below the word, or above it where there is more room; never out of the window.
	const place = () => {
		if (list.hidden) return;
		const gap = 8, at = caretAt(field, field.selectionStart - word.length);
		const left = Math.min(at.left, document.documentElement.clientWidth - gap - list.offsetWidth);
		const up = at.bottom + list.offsetHeight + gap > innerHeight && at.top > innerHeight - at.bottom;
		const top = up ? at.top - list.offsetHeight : at.bottom;
		list.style.left = Math.max(gap, left) + 'px';
		list.style.top = Math.max(gap, Math.min(top, innerHeight - gap - list.offsetHeight)) + 'px';
	};
	const take = (li) => {
		field.focus();
		if (wordNow() === word) field.setRangeText(li.dataset.insert, field.selectionStart - word.length, field.selectionEnd, 'end');
		hide();
	};
	const ask = async () => {
		const turn = asking = new AbortController();
		try {
			const found = await load(`/${box.dataset.repo}/suggest?q=${encodeURIComponent(word)}`, { signal: turn.signal });
			if (turn.signal.aborted || wordNow() !== word) return;
			list.replaceChildren(...found.querySelectorAll('li'));
			list.dataset.word = word;
			list.hidden = !list.children.length;
			mark(0);
			place();
			const n = list.children.length;
			said.textContent = n ? `${n} suggestion${n > 1 ? 's' : ''}. Up and down to choose, Enter to insert.` : '';
		} catch { if (!turn.signal.aborted) hide(); }
	};
	field.addEventListener('input', () => {
		word = wordNow();
		clearTimeout(timer);
		asking?.abort();
		if (word) timer = setTimeout(ask, 150); else hide();
	});
	field.addEventListener('keydown', (e) => {
		if (list.hidden || e.isComposing) return;
		if (wordNow() !== list.dataset.word) { hide(); return; } // the caret was moved, or the list for more letters is not there yet
		const now = [...list.children].findIndex((li) => li.ariaSelected === 'true');
		if (e.key === 'ArrowDown' || e.key === 'ArrowUp') mark((now + (e.key === 'ArrowDown' ? 1 : -1) + list.children.length) % list.children.length);
		else if ((e.key === 'Enter' && !e.ctrlKey && !e.metaKey) || e.key === 'Tab') take(list.children[now]);
		else if (e.key === 'Escape') hide();
		else return;
		e.preventDefault();
		e.stopPropagation();
	});
	list.addEventListener('mousedown', (e) => { e.preventDefault(); const li = e.target.closest('li'); if (li) take(li); });
	field.addEventListener('blur', () => { clearTimeout(timer); hide(); });
	addEventListener('scroll', place, { capture: true, passive: true });
	addEventListener('resize', place);
}
