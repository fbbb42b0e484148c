package repo

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Merging says how pull requests of a repository are merged: a set of bits, as it is stored. The zero value
// is a new repository's, which allows all methods and deletes nothing.
type Merging int64

// What can be set.
const (
	NoMergeCommits Merging = 1 << iota
	NoSquashes
	NoRebases
	DeletesHead // once it is merged, if it is a branch of the same repository
)

// Has reports whether it is set.
func (m Merging) Has(bit Merging) bool { return m&bit != 0 }

// mergingFields are the settings as the interface has them, where three of four are said the other way round.
var mergingFields = [...]struct {
	name  string
	bit   Merging
	means bool // the bit is set when the field is this
}{{"allow_merge_commit", NoMergeCommits, false}, {"allow_squash_merge", NoSquashes, false},
	{"allow_rebase_merge", NoRebases, false}, {"delete_branch_on_merge", DeletesHead, true}}

// MergingChange sets some bits and clears others.
type MergingChange struct{ set, clear Merging }

// readMerging reads the settings that a body has.
func readMerging(body *web.Object) (c MergingChange) {
	for _, f := range mergingFields {
		switch v := body.Bool(f.name); {
		case !v.Given():
		case v.Value == f.means:
			c.set |= f.bit
		default:
			c.clear |= f.bit
		}
	}
	return c
}

// apply gives the settings after the change. Error: 422 when no method would be left.
func (c MergingChange) apply(m Merging) (Merging, error) {
	m = m&^c.clear | c.set
	if none := NoMergeCommits | NoSquashes | NoRebases; m&none == none {
		return m, errs.Validation(errs.Field{Resource: resource, Field: "allow_merge_commit", Code: errs.Custom,
			Message: "Sorry, you need to allow at least one merge strategy (merge commit, squash, or rebase)"})
	}
	return m, nil
}

// mergingPayload is how pull requests are merged, as those see it who may push. What merges by itself,
// and other texts of commits, cannot be chosen.
type mergingPayload struct {
	MergeCommit   bool   `json:"allow_merge_commit"`
	Squash        bool   `json:"allow_squash_merge"`
	Rebase        bool   `json:"allow_rebase_merge"`
	AutoMerge     bool   `json:"allow_auto_merge"`
	DeletesHead   bool   `json:"delete_branch_on_merge"`
	UpdateBranch  bool   `json:"allow_update_branch"`
	UsesPullTitle bool   `json:"use_squash_pr_title_as_default"`
	SquashTitle   string `json:"squash_merge_commit_title"`
	SquashMessage string `json:"squash_merge_commit_message"`
	MergeTitle    string `json:"merge_commit_title"`
	MergeMessage  string `json:"merge_commit_message"`
}

func newMergingPayload(a *Access) *mergingPayload {
	if a.Role < account.Push {
		return nil
	}
	m := a.Merging
	return &mergingPayload{MergeCommit: !m.Has(NoMergeCommits), Squash: !m.Has(NoSquashes), Rebase: !m.Has(NoRebases),
		DeletesHead: m.Has(DeletesHead), SquashTitle: squashTitle, SquashMessage: squashMessage, MergeTitle: mergeTitle,
		MergeMessage: mergeMessage}
}

// What the texts of merges are made of, in GitHub's words.
const (
	squashTitle   = "COMMIT_OR_PR_TITLE"
	squashMessage = "BLANK"
	mergeTitle    = "MERGE_MESSAGE"
	mergeMessage  = "PR_TITLE"
)

// fixed refuses what cannot be set of any repository, new or not: each field may be what it is (decision 65).
func fixed(body *web.Object) {
	for _, name := range [...]string{"has_projects", "has_wiki", "has_downloads", "has_discussions", "is_template",
		"allow_auto_merge", "use_squash_pr_title_as_default"} {
		body.Fixed(name, false)
	}
	body.Fixed("squash_merge_commit_title", squashTitle)
	body.Fixed("squash_merge_commit_message", squashMessage)
	body.Fixed("merge_commit_title", mergeTitle)
	body.Fixed("merge_commit_message", mergeMessage)
}

// fixedNew refuses what else cannot be set of a new repository.
func fixedNew(body *web.Object) {
	fixed(body)
	for _, name := range [...]string{"gitignore_template", "license_template"} {
		body.Fixed(name, "")
	}
	body.Fixed("team_id", nil)
	body.Fixed("custom_properties", struct{}{})
}

// fixedOf refuses what else cannot be set of one that is there.
func fixedOf(body *web.Object, r *Repo) {
	fixed(body)
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
