//go:build long

package mail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/mail"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

// A real mail server takes mail: without TLS, by STARTTLS and by TLS, with a password; and a program that is not ours
// reads in it what was said.
func TestRealMailServer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{mail.None, mail.STARTTLS, mail.TLS} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			real := mailtest.StartReal(t, mode)
			dir := t.TempDir()
			settings := mail.Settings{Server: real.Address, TLS: mode, From: "Arbor & Söhne <arbor@example.org>",
				BaseURL: "https://code.example.org"}
			if mode != mail.None {
				settings.User, settings.PasswordFile = "arbor", filepath.Join(dir, "password")
				testkit.NoError(t, os.WriteFile(settings.PasswordFile, []byte("secret"), 0o600))
			}
			config, err := mail.NewConfig(settings)
			testkit.NoError(t, err)
			if mode != mail.None {
				if err := config.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
					t.Errorf("a certificate of nobody: %v", err)
				}
				config.Roots = real.Roots
			}
			testkit.NoError(t, config.Check(t.Context()))
			text := "Grüße\n.\n..\nFrom here\n" + strings.Repeat("long ", 500) + "\n"
			testkit.NoError(t, config.Send(t.Context(), &mail.Message{To: "jörg@example.org", From: `Eve "Q" <x@y>`,
				Subject: strings.Repeat("Ünïcode ", 12), Text: text, HTML: "<p>Grüße</p>", ID: "issue.1",
				References: []string{"issue.0"}, List: "acme/site", Reason: "mention",
				Unsubscribe: "https://code.example.org/u/" + strings.Repeat("a", 120)}))
			m := <-real.Mails
			got := map[string]string{}
			for _, h := range m.Headers {
				got[h[0]] = h[1]
			}
			for name, want := range map[string]string{"Subject": strings.TrimSpace(strings.Repeat("Ünïcode ", 12)),
				"Message-ID": "<issue.1@code.example.org>", "References": "<issue.0@code.example.org>",
				"In-Reply-To": "<issue.0@code.example.org>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
				"List-Unsubscribe": "<https://code.example.org/u/" + strings.Repeat("a", 120) + ">",
				"List-Id":          "<site.acme.code.example.org>", "X-Arbor-Reason": "mention",
				"Auto-Submitted": "auto-generated"} {
				if strings.TrimSpace(got[name]) != want { // a reader leaves the space of a folded line
					t.Errorf("%s: %q, want %q", name, got[name], want)
				}
			}
			if strings.TrimRight(m.Text, "\n") != strings.TrimRight(text, "\n") {
				t.Errorf("the text is %q", m.Text)
			}
			if !strings.Contains(m.HTML, "Grüße") || m.From != "arbor@example.org" || m.To[0] != "jörg@example.org" ||
				!strings.Contains(got["From"], "arbor@example.org") || !strings.Contains(got["From"], "Eve") {
				t.Errorf("%+v", m)
			}
			if mode != mail.None && (!m.TLS || m.User != "arbor") {
				t.Errorf("TLS %v, user %q", m.TLS, m.User)
			}
			config.Password = "wrong"
			if err := config.Check(t.Context()); mode != mail.None && err == nil {
				t.Error("a wrong password is found good")
			}
		})
	}
	real := mailtest.StartReal(t, mail.None)
	config, err := mail.NewConfig(mail.Settings{Server: real.Address, TLS: mail.STARTTLS, From: "a@example.org",
		BaseURL: "https://code.example.org"})
	testkit.NoError(t, err)
	if err := config.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("a server without STARTTLS: %v", err)
	}
}
