package repo

import (
	"arbor/internal/account"
	"arbor/internal/audit"
)

// Audited returns an audit log entry about the repository, which also belongs to the organization that owns
// it.
func (r *Repo) Audited(action audit.Action, changes map[string]any) audit.Entry {
	e := audit.Entry{Action: action, Repo: audit.Named{ID: int64(r.ID), Name: r.FullName()}, Changes: changes}
	if r.Owner.Kind == account.Organization {
		e.Org = r.Owner.Audited()
	}
	return e
}

// Visibility returns the word for a repository's visibility.
func Visibility(private bool) string {
	if private {
		return "private"
	}
	return "public"
}
