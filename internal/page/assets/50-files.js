// A field for several files lists what was chosen: more are added by choosing or dropping them, and each can be taken out
// again before the form is sent.
on('input[type=file][multiple]', (field) => {
	const zone = field.closest('.field, form'), list = document.createElement('ul');
	let chosen = [];
	list.className = 'chosen';
	list.setAttribute('aria-label', 'Chosen files');
	field.after(list);
	const show = () => {
		const all = new DataTransfer();
		chosen.forEach((file) => all.items.add(file));
		field.files = all.files;
		list.replaceChildren(...chosen.map((file) => {
			const row = document.createElement('li'), name = document.createElement('bdi'), button = document.createElement('button');
			name.textContent = file.name;
			button.type = 'button';
			button.className = 'small';
			button.textContent = 'Remove';
			button.setAttribute('aria-label', `Remove ${file.name}`);
			button.addEventListener('click', () => { chosen = chosen.filter((f) => f !== file); show(); field.focus(); });
			row.append(name, button);
			return row;
		}));
	};
	const add = (files) => {
		const fresh = [...files];
		chosen = [...chosen.filter((old) => !fresh.some((file) => file.name === old.name)), ...fresh];
		show();
	};
	const carries = (e) => e.dataTransfer.types.includes('Files');
	field.addEventListener('change', () => add(field.files));
	zone.addEventListener('dragover', (e) => { if (carries(e)) { e.preventDefault(); zone.classList.add('over'); } });
	zone.addEventListener('dragleave', () => zone.classList.remove('over'));
	zone.addEventListener('drop', (e) => {
		zone.classList.remove('over');
		if (!carries(e)) return;
		e.preventDefault();
		add(e.dataTransfer.files);
	});
	field.form.addEventListener('submit', () => {
		if (!chosen.length) return;
		const say = document.createElement('li');
		say.setAttribute('role', 'status');
		say.textContent = 'Uploading…';
		list.append(say);
	});
});
