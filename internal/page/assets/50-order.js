// Rows of a form are put into another order by dragging them: their fields are sent in the new order.
on('form[data-order]', (form) => {
	const list = form.querySelector('ol'), rowAt = (e) => [...list.children].find((row) => row.contains(e.target));
	let row = null, before = '';
	const order = () => [...list.querySelectorAll('[name=order]')].map((f) => f.value).join();
	for (const x of list.children) x.draggable = true;
	list.addEventListener('dragstart', (e) => { row = rowAt(e); before = order(); e.dataTransfer.effectAllowed = 'move'; });
	list.addEventListener('dragover', (e) => {
		const at = row && rowAt(e);
		if (!at) return;
		e.preventDefault();
		if (at === row) return;
		if (row.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING) at.after(row); else at.before(row);
	});
	list.addEventListener('drop', (e) => e.preventDefault());
	list.addEventListener('dragend', () => { row = null; if (order() !== before) form.submit(); });
});
