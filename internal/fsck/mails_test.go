package fsck

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Mails and links that nobody can get are found.
func TestBrokenMailsAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Org(t, "acme", "alice")
		const mail = `INSERT INTO mails (kind, account_id, address, about, created_at, due_at) SELECT 'notice', id, '', '{}', 1, `
		write(t, s, mail+`0 FROM accounts WHERE login = 'alice'`)
		if found := look(t, s, Options{}); !found.Sound() {
			t.Fatal(found.text())
		}
		write(t, s, mail+`0 FROM accounts WHERE login = 'acme'`)
		write(t, s, mail+`9000000000000000 FROM accounts WHERE login = 'alice'`)
		write(t, s, `INSERT INTO mails (kind, address, about, created_at) VALUES ('reset', '', '{}', 1)`)
		write(t, s, `INSERT INTO mail_links (digest, kind, account_id, address, created_at, expires_at)
			SELECT digest, 'reset', (SELECT id FROM accounts WHERE login = 'acme'), '', 1, 2 FROM tokens LIMIT 1`)
		found := look(t, s, Options{})
		for _, problem := range []string{"is of acme, no user", "is put off for too long", "goes to nobody"} {
			if !strings.Contains(found.text(), problem) {
				t.Errorf("%q is not in %s", problem, found.text())
			}
		}
	})
}
