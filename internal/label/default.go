package label

import (
	"arbor/internal/db"
	"arbor/internal/repo"
)

// defaults are GitHub's labels for new repositories (decision 32): name, color, description.
var defaults = [...][3]string{
	{"bug", "d73a4a", "Something isn't working"},
	{"documentation", "0075ca", "Improvements or additions to documentation"},
	{"duplicate", "cfd3d7", "This issue or pull request already exists"},
	{"enhancement", "a2eeef", "New feature or request"},
	{"good first issue", "7057ff", "Good for newcomers"},
	{"help wanted", "008672", "Extra attention is needed"},
	{"invalid", "e4e669", "This doesn't seem right"},
	{"question", "d876e3", "Further information is requested"},
	{"wontfix", "ffffff", "This will not be worked on"},
}

// Defaults returns the names of the labels of a new repository (decision 32).
func Defaults() []string {
	names := make([]string, len(defaults))
	for n, l := range defaults {
		names[n] = l[0]
	}
	return names
}

// AddDefaults adds the default labels to a new repository (decision 32).
func AddDefaults(tx *db.Tx, r *repo.Repo) error {
	list := make([]*Label, len(defaults))
	for n, l := range defaults {
		list[n] = &Label{RepoID: r.ID, Name: l[0], Color: l[1], Description: &l[2], Default: true}
	}
	return insertAll(tx, list)
}
