package settings

import (
	"maps"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// record notes what an edit changes of a repository, but for its visibility. Texts that
// somebody wrote are named only.
func (e *Edit) record(tx *db.Tx, before, after *repo.Repo) error {
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
	if e.Topics.Set {
		fields = append(fields, "topics")
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
	maps.Copy(told, after.Merging.Changes(before.Merging))
	if len(told) == 0 {
		return nil
	}
	return audit.Record(tx, after.Audited(audit.RepoUpdate, told))
}
