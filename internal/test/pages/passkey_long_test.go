//go:build long

package pages_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// authenticator gives a tab an authenticator that holds passkeys and knows its user.
func authenticator(b *browser.Tab) (id webauthn.AuthenticatorID) {
	b.Run(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true,
			AutomaticPresenceSimulation: true}).Do(ctx)
		return err
	}))
	return id
}

// A person adds a passkey, signs in with it alone, uses it after the password, and confirms with it; after another
// login as well. One that is removed, copied or of another account signs nobody in.
func TestPasskeysInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Admin(t, "chief")
	session := s.PasswordSession(t, "alice")
	b := browser.Open(t, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), browser.Look{})
	id := authenticator(b)
	b.Go("/login")
	b.SignIn(session)
	b.Go("/settings/security")
	b.Fill("#name", "Laptop <b>")
	b.Follow("[data-passkey=add]")
	b.See("main", "These are your recovery codes")
	b.Follow("a.main")
	b.See("main", "Laptop <b>")
	b.See("main", "10 left")

	out := func() {
		b.Go("/settings/sessions")
		b.Follow("button.small.danger")
		b.Go("/login")
	}
	alone := func() {
		b.Click("[data-passkey=signin]")
	}
	b.Go("/settings/sessions")
	b.See("main", "Password")
	_, err := s.Forge.Accounts.Rename(t.Context(), nil, account.User, "alice", "alicia")
	testkit.NoError(t, err)
	out()
	b.Follow("[data-passkey=signin]")
	b.Go("/settings/sessions")
	b.See("main", "Passkey")

	out()
	b.Fill("#login", "alicia")
	b.Fill("#password", "a long secret")
	b.Follow("form[action='/login'] button.main")
	b.See("main", "Signing in as alicia")
	b.Follow("[data-passkey=second]")
	b.Go("/settings/sessions")
	b.See("main", "Password and passkey")

	testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
		if err := tx.Run(`UPDATE tokens SET confirmed_at = 1 WHERE agent IS NOT NULL`); err != nil {
			return err
		}
		return tx.Bump("accounts")
	}))
	b.Go("/settings/emails")
	b.Fill("#email", "kept@example.com")
	b.Submit()
	b.See("main", "Confirm access")
	b.Follow("[data-passkey=confirm]")
	b.See("main", "kept@example.com")

	for name, spoil := range map[string]string{"copied": `UPDATE passkeys SET sign_count = 1000000`,
		"somebody else's": `UPDATE passkeys SET account_id = (SELECT id FROM accounts WHERE login = 'chief')`} {
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error { return tx.Run(spoil) }))
		out()
		alone()
		b.See("main", map[string]string{"copied": "may have been copied",
			"somebody else's": "not valid for your account"}[name])
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
			return tx.Run(`UPDATE passkeys SET sign_count = 1,
				account_id = (SELECT id FROM accounts WHERE login = 'alicia')`)
		}))
		b.Go("/login")
		b.Follow("[data-passkey=signin]")
	}

	b.Go("/settings/security")
	b.Click(".sure summary")
	b.Follow(".sure[open] form button")
	b.See("main", "The passkey was removed.")
	out()
	alone()
	b.See("main", "This passkey is not known here.")

	// One that did not check who uses it is no only factor.
	b.Run(webauthn.SetUserVerified(id, false))
	b.Go("/login")
	alone()
	b.See(".note.warn", "No passkey was used.")
}
