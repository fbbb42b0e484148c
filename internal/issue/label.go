package issue

import (
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// Label is a row of the table labels.
type Label struct {
	ID          int64
	RepoID      int64
	Name        string // FoldLabel of it is unique in the repository
	Color       string // six lower-case hexadecimal digits
	Description *string
	Default     bool // one of those that every repository begins with
}

// FoldLabel makes names of labels that differ only in case equal (decision 25).
func FoldLabel(name string) string { return strings.ToLower(name) }

// newLabelColor is the colour of a label that an issue names and nobody made
// (decision 32).
const newLabelColor = "ededed"

// checkLabelNames reports what is wrong with the names of an issue's labels
// (decision 19).
func checkLabelNames(names []string) error {
	if len(names) > MaxLabels {
		return errs.Validation(errs.Field{Resource: Resource, Field: "labels", Code: errs.Custom, Message: "labels are too many (maximum is 100)"})
	}
	for _, n := range names {
		if strings.TrimSpace(n) == "" {
			return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.MissingField})
		}
		if utf8.RuneCountInString(n) > MaxLabelName {
			return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.Custom, Message: "name is too long (maximum is 50 characters)"})
		}
	}
	return nil
}

// labelsFor finds the labels of an issue by their names, in the order given,
// and makes those that are not there (decision 32). Errors: 422.
func labelsFor(tx *db.Tx, repoID int64, names []string) ([]*Label, error) {
	if err := checkLabelNames(names); err != nil {
		return nil, err
	}
	byName, err := labelsNamed(tx, repoID, names)
	if err != nil {
		return nil, err
	}
	list := make([]*Label, 0, len(names))
	seen := map[string]bool{}
	for _, n := range names {
		folded := FoldLabel(n)
		if seen[folded] {
			continue
		}
		seen[folded] = true
		l := byName[folded]
		if l == nil {
			l = &Label{RepoID: repoID, Name: n, Color: newLabelColor}
			if err := insertLabel(tx, l); err != nil {
				return nil, err
			}
		}
		list = append(list, l)
	}
	return list, nil
}
