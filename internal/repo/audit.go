package repo

import (
	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
)

// Audited is an entry of the audit log about the repository, for the organization too that owns it.
func (r *Repo) Audited(action audit.Action, changes map[string]any) audit.Entry {
	e := audit.Entry{Action: action, Repo: audit.Named{ID: int64(r.ID), Name: r.FullName()}, Changes: changes}
	if r.Owner.Kind == account.Organization {
		e.Org = r.Owner.Audited()
	}
	return e
}

// Visibility is the word for who sees a repository.
func Visibility(private bool) string {
	if private {
		return "private"
	}
	return "public"
}

// record notes what an edit changes of a repository, but for its visibility. Texts that
// somebody wrote are named only.
func (e *Edit) record(tx *db.Tx, before, after *Repo) error {
	if before.Name != after.Name {
		err := audit.Record(tx, after.Audited(audit.RepoRename,
			map[string]any{"old_name": before.Name, "name": after.Name}))
		if err != nil {
			return err
		}
	}
	if before.Archived != after.Archived {
		action := audit.RepoUnarchived
		if after.Archived {
			action = audit.RepoArchived
		}
		if err := audit.Record(tx, after.Audited(action, nil)); err != nil {
			return err
		}
	}
	told, fields := map[string]any{}, []string{}
	if e.Description.Set {
		fields = append(fields, "description")
	}
	if e.Homepage.Set {
		fields = append(fields, "homepage")
	}
	if len(fields) > 0 {
		told["fields"] = fields
	}
	if before.DefaultBranch != after.DefaultBranch {
		told["old_default_branch"], told["default_branch"] = before.DefaultBranch, after.DefaultBranch
	}
	if before.IsTemplate != after.IsTemplate {
		told["is_template"] = after.IsTemplate
	}
	if before.HasIssues != after.HasIssues {
		told["has_issues"] = after.HasIssues
	}
	for _, f := range mergingFields {
		if before.Merging.Has(f.bit) != after.Merging.Has(f.bit) {
			told[f.name] = after.Merging.Has(f.bit) == f.means
		}
	}
	if len(told) == 0 {
		return nil
	}
	return audit.Record(tx, after.Audited(audit.RepoUpdate, told))
}
