package mirror

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// NewSecret creates the secret with which a webhook of the source asks for runs, and replaces a former one.
// The secret is shown only now. Error: 404 if the repository is not a pull mirror.
func (s *Service) NewSecret(ctx context.Context, a *repo.Access) (string, error) {
	secret := rand.Text()
	sealed, err := s.seal(a.ID, forHook, secret)
	if err != nil {
		return "", err
	}
	return secret, s.changeSecret(ctx, a, sealed)
}

// RemoveSecret ends the secret of the source's webhook. Error: 404 if the repository is no pull mirror.
func (s *Service) RemoveSecret(ctx context.Context, a *repo.Access) error {
	return s.changeSecret(ctx, a, "")
}

func (s *Service) changeSecret(ctx context.Context, a *repo.Access, sealed string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		list, err := of(tx, a.ID, false)
		if err == nil && len(list) == 0 {
			err = errs.Absent()
		}
		if err != nil {
			return err
		}
		if err := setSecret(tx, a.ID, sealed); err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoSetMirror, map[string]any{"url": list[0].URL, "webhook": sealed != ""}))
	})
}

// Hooked makes the pull mirror of a repository run soon, for a webhook of its source that proves that it
// knows the secret. Errors: 404 without that proof, as for a repository that does not exist; 403 for an
// archived repository; 422 if the mirror was stopped.
func (s *Service) Hooked(ctx context.Context, owner, name string, header http.Header, body []byte) error {
	a, err := s.repos.Find(ctx, &account.Caller{SiteAdmin: true}, owner, name)
	if err != nil {
		return err
	}
	sealed, err := db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return secretOf(tx, a.ID) })
	if err != nil {
		return err
	}
	secret, err := s.open(a.ID, forHook, sealed)
	if err != nil || !isSigned(header, body, secret) || a.Deleted() {
		return errs.Absent()
	}
	if a.Archived {
		return repo.ErrArchived()
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := secretOf(tx, a.ID)
		if err == nil && now != sealed {
			err = errs.Absent()
		}
		if err != nil {
			return err
		}
		return s.askIn(tx, a.ID, false)
	})
}

// maxHook is the size of the largest body of a webhook in bytes, as GitHub sends it.
const maxHook = 25 << 20

// isSigned reports whether a webhook proves that it knows the secret: GitHub and Gitea sign the body, and GitLab sends
// the secret itself.
func isSigned(header http.Header, body []byte, secret string) bool {
	if secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	sum := mac.Sum(nil)
	for _, name := range []string{"X-Hub-Signature-256", "X-Gitea-Signature", "X-Forgejo-Signature"} {
		given, err := hex.DecodeString(strings.TrimPrefix(header.Get(name), "sha256="))
		if err == nil && hmac.Equal(given, sum) {
			return true
		}
	}
	return subtle.ConstantTimeCompare([]byte(header.Get("X-Gitlab-Token")), []byte(secret)) == 1
}
