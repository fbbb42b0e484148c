// Changed files: collapsed ones open in their place, files fold, and numbers are links to their lines.
on('a[data-show]', (a) => a.addEventListener('click', async (e) => {
	e.preventDefault();
	const file = a.closest('.difffile');
	const answer = await fetch(a.href, { headers: { Accept: 'text/html' } }).catch(() => null);
	const piece = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(file.id);
	if (!piece) { location.href = a.href; return; }
	file.replaceWith(piece);
	enliven(piece);
}));
on('.difffile', (file) => {
	const button = document.createElement('button');
	button.className = 'plain fold';
	const fold = (shut) => {
		file.classList.toggle('shut', shut);
		button.textContent = shut ? '▸' : '▾';
		button.setAttribute('aria-expanded', !shut);
	};
	button.type = 'button';
	button.setAttribute('aria-label', `Lines of ${file.dataset.path}`);
	button.addEventListener('click', () => fold(!file.classList.contains('shut')));
	fold(false);
	file.querySelector('header').prepend(button);
});
document.addEventListener('click', (e) => {
	if (e.target.matches('.diff td[data-n][id]')) location.hash = e.target.id;
});
