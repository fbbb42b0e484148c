
// Passkeys: a button asks the server for options, the authenticator for a passkey, and sends its form with the answer.
on('[data-passkey]', (button) => {
	const Key = window.PublicKeyCredential;
	if (!Key?.parseRequestOptionsFromJSON) return;
	const form = button.form, adds = button.dataset.passkey === 'add';
	button.hidden = false;
	button.addEventListener('click', async () => {
		button.disabled = true;
		try {
			const answer = await fetch('/login/passkey', {
				method: 'POST', headers: { Accept: 'application/json' },
				body: new URLSearchParams({ for: button.dataset.passkey, pending: form.elements.pending?.value ?? '' }),
			}), options = await answer.json();
			if (!answer.ok) throw new Error(options.message);
			const made = adds
				? await navigator.credentials.create({ publicKey: Key.parseCreationOptionsFromJSON(options.publicKey) })
				: await navigator.credentials.get({ publicKey: Key.parseRequestOptionsFromJSON(options.publicKey) });
			form.elements[button.dataset.passkey === 'confirm' ? 'sudo_passkey' : 'passkey'].value = JSON.stringify(made);
			form.submit();
		} catch (error) {
			button.disabled = false;
			if (!button.nextElementSibling?.matches('.note')) button.insertAdjacentHTML('afterend', '<p class="note warn" role="alert"></p>');
			button.nextElementSibling.textContent = error.name === 'NotAllowedError' ? 'No passkey was used.' : error.message;
		}
	});
});
