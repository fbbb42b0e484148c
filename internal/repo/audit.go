package repo

import (
	"arbor/internal/account"
	"arbor/internal/audit"
)

// Audited is an entry of the audit log about the repository, for the organization too that owns it.
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
