package settings

import (
	"encoding/json"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ignored takes the switches of features that no repository has. They stay off: gh, Terraform and others send
// them unasked (decision 65).
func ignored(body *web.Object) {
	body.Ignored("has_projects", "has_wiki", "has_downloads", "has_discussions")
}

// fixedNew refuses what cannot be set of a new repository: each field may be what it is (decision 65).
func fixedNew(body *web.Object) {
	ignored(body)
	body.Fixed("team_id", nil)
	body.Fixed("custom_properties", struct{}{})
}

// fixedOf refuses what cannot be set of one that is there.
func fixedOf(body *web.Object, r *repo.Repo) {
	ignored(body)
	body.Ignored("allow_update_branch")
	body.Fixed("web_commit_signoff_required", false)
	body.Fixed("has_pull_requests", true)
	body.Fixed("pull_request_creation_policy", "all")
	body.Fixed("allow_forking", r.AllowForking)
	var features map[string]struct{ Status string }
	if raw := body.Raw("security_and_analysis"); raw != nil && string(raw) != "null" {
		bad := json.Unmarshal(raw, &features) != nil
		for _, f := range features {
			bad = bad || f.Status != "disabled"
		}
		if bad {
			body.Wrong("security_and_analysis", errs.InvalidField,
				"security_and_analysis cannot be set: there is none of it here")
		}
	}
}
