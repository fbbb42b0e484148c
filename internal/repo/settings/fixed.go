package settings

import (
	"encoding/json"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// switchedOn are features that a new repository has at GitHub unless its maker says otherwise.
var switchedOn = [...]string{"has_projects", "has_wiki", "has_downloads"}

// fixed refuses what cannot be set of any repository, new or not: each field may be what it is (decision 65).
func fixed(body *web.Object) {
	body.Fixed("has_discussions", false)
}

// fixedNew refuses what else cannot be set of a new repository. GitHub's defaults are taken and do nothing: gh and
// others send them unasked.
func fixedNew(body *web.Object) {
	fixed(body)
	for _, name := range switchedOn {
		if string(body.Raw(name)) != "true" {
			body.Fixed(name, false)
		}
	}
	body.Fixed("team_id", nil)
	body.Fixed("custom_properties", struct{}{})
}

// fixedOf refuses what else cannot be set of one that is there.
func fixedOf(body *web.Object, r *repo.Repo) {
	fixed(body)
	for _, name := range switchedOn {
		body.Fixed(name, false)
	}
	body.Fixed("allow_update_branch", false)
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
