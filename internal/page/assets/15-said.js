// Texts that people wrote. Ids in them have a prefix, so that none is one of the page's: an address without it leads there, too.
function toHeading() {
	let id = location.hash.slice(1);
	try { id = decodeURIComponent(id); } catch { return; }
	if (id && !document.getElementById(id)) document.getElementById(`user-content-${id}`)?.scrollIntoView();
}
addEventListener('hashchange', toHeading);
toHeading();

// What is wider than its column can be scrolled by keyboard.
on('.said pre, .said table', (n) => { if (n.scrollWidth > n.clientWidth) n.tabIndex = 0; });
