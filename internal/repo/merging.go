package repo

import (
	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Merging is the settings for merging pull requests, stored as a set of bits. The zero value is that of
// a new repository, which allows all methods and does not delete branches.
type Merging int64

// Settings.
const (
	NoMergeCommits Merging = 1 << iota
	NoSquashes
	NoRebases
	DeletesHead // after the merge, if it is in the same repository

	// Default texts of merges: see mergingTexts.
	SquashByPullTitle
	SquashWithBody
	SquashWithMessages
	MergeByPullTitle
	MergeWithBody
	MergeWithoutText

	AllowsAutoMerge // somebody may have the server merge a pull request once rules allow it
)

// Has reports whether a bit is set.
func (m Merging) Has(bit Merging) bool { return m&bit != 0 }

// mergingFields maps the interface's fields to bits. Three have the opposite meaning.
var mergingFields = [...]struct {
	name  string
	bit   Merging
	means bool // value of the field for which the bit is set
}{{"allow_merge_commit", NoMergeCommits, false}, {"allow_squash_merge", NoSquashes, false},
	{"allow_rebase_merge", NoRebases, false}, {"delete_branch_on_merge", DeletesHead, true},
	{"allow_auto_merge", AllowsAutoMerge, true},
	{"use_squash_pr_title_as_default", SquashByPullTitle, true}} // GitHub's former name of a title

// Changes returns the boolean settings that differ from before, by field.
func (m Merging) Changes(before Merging) map[string]any {
	changes := map[string]any{}
	for _, f := range mergingFields {
		if before.Has(f.bit) != m.Has(f.bit) {
			changes[f.name] = m.Has(f.bit) == f.means
		}
	}
	return changes
}

// mergingText is a setting of a merge's text: one of several words of GitHub's, each with its bit. The
// first word has no bit.
type mergingText struct {
	name   string
	values []mergingWord
}

type mergingWord struct {
	value string
	bit   Merging
}

// mergingTexts are the settings of squashes and of merge commits, a title and a message each.
var mergingTexts = [...]mergingText{
	{"squash_merge_commit_title", []mergingWord{{"COMMIT_OR_PR_TITLE", 0}, {"PR_TITLE", SquashByPullTitle}}},
	{"squash_merge_commit_message", []mergingWord{
		{"BLANK", 0}, {"PR_BODY", SquashWithBody}, {"COMMIT_MESSAGES", SquashWithMessages}}},
	{"merge_commit_title", []mergingWord{{"MERGE_MESSAGE", 0}, {"PR_TITLE", MergeByPullTitle}}},
	{"merge_commit_message", []mergingWord{{"PR_TITLE", 0}, {"PR_BODY", MergeWithBody},
		{"BLANK", MergeWithoutText}}},
}

// Word returns the setting for a merge's text with the given name in the API.
func (m Merging) Word(name string) string {
	for _, t := range mergingTexts {
		if t.name == name {
			return t.of(m)
		}
	}
	return ""
}

// of returns the text that is set.
func (t mergingText) of(m Merging) string {
	for _, v := range t.values[1:] {
		if m.Has(v.bit) {
			return v.value
		}
	}
	return t.values[0].value
}

// MergingPayload is the merge settings, which callers with push access see. allow_update_branch is
// always false.
type MergingPayload struct {
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

func newMergingPayload(a *Access) *MergingPayload {
	if a.Role < account.Push {
		return nil
	}
	return a.Merging.Payload()
}

// Payload returns the settings by the names of the API.
func (m Merging) Payload() *MergingPayload {
	return &MergingPayload{MergeCommit: !m.Has(NoMergeCommits), Squash: !m.Has(NoSquashes),
		Rebase: !m.Has(NoRebases), AutoMerge: m.Has(AllowsAutoMerge),
		DeletesHead: m.Has(DeletesHead), UsesPullTitle: m.Has(SquashByPullTitle),
		SquashTitle:   mergingTexts[0].of(m),
		SquashMessage: mergingTexts[1].of(m), MergeTitle: mergingTexts[2].of(m),
		MergeMessage: mergingTexts[3].of(m)}
}

// Merging returns the settings. Words that are unknown are those of a new repository.
func (p *MergingPayload) Merging() (m Merging) {
	for bit, is := range map[Merging]bool{NoMergeCommits: !p.MergeCommit, NoSquashes: !p.Squash, NoRebases: !p.Rebase,
		DeletesHead: p.DeletesHead, AllowsAutoMerge: p.AutoMerge} {
		if is {
			m |= bit
		}
	}
	for n, word := range [...]string{p.SquashTitle, p.SquashMessage, p.MergeTitle, p.MergeMessage} {
		for _, v := range mergingTexts[n].values {
			if v.value == word {
				m |= v.bit
			}
		}
	}
	if none := NoMergeCommits | NoSquashes | NoRebases; m&none == none {
		m &^= none // one method at least
	}
	return m
}

// words are those that may be chosen.
func (t mergingText) words() []string {
	words := make([]string, len(t.values))
	for n, v := range t.values {
		words[n] = v.value
	}
	return words
}

// MergingEdit is what somebody sets of how pull requests are merged, by the interface's names: yes-or-no settings,
// and words for the texts of merges. Settings that are not in it stay.
type MergingEdit struct {
	Flags map[string]bool
	Words map[string]string
}

// ReadMerging reads the settings that a body has.
func ReadMerging(body *web.Object) MergingEdit {
	e := MergingEdit{map[string]bool{}, map[string]string{}}
	for _, f := range mergingFields {
		if v := body.Bool(f.name); v.Given() {
			e.Flags[f.name] = v.Value
		}
	}
	for _, t := range mergingTexts {
		if v := body.Enum(t.name, t.words()...); v.Given() {
			e.Words[t.name] = v.Value
		}
	}
	return e
}

// Check notes words that cannot be chosen.
func (e MergingEdit) Check(f *web.Faults) {
	for _, t := range mergingTexts {
		if word, given := e.Words[t.name]; given {
			f.CheckEnum(t.name, word, t.words()...)
		}
	}
}

// Apply returns the settings after the change. Error: 422 when no method would be left.
func (e MergingEdit) Apply(m Merging) (Merging, error) {
	for _, f := range mergingFields {
		switch on, given := e.Flags[f.name]; {
		case !given:
		case on == f.means:
			m |= f.bit
		default:
			m &^= f.bit
		}
	}
	for _, t := range mergingTexts {
		word, given := e.Words[t.name]
		for _, v := range t.values {
			switch {
			case !given:
			case v.value == word:
				m |= v.bit
			default:
				m &^= v.bit
			}
		}
	}
	if none := NoMergeCommits | NoSquashes | NoRebases; m&none == none {
		return m, errs.Validation(errs.Field{Resource: Resource, Field: "allow_merge_commit",
			Code:    errs.Custom,
			Message: "Sorry, you need to allow at least one merge strategy (merge commit, squash, or rebase)"})
	}
	return m, nil
}
