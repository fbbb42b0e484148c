package issue

import (
	"context"
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
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
		return tooManyLabels()
	}
	for _, n := range names {
		if strings.TrimSpace(n) == "" {
			return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.MissingField})
		}
		if strings.IndexByte(n, 0) >= 0 {
			return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.InvalidField, Message: "name must not contain NUL"})
		}
		if utf8.RuneCountInString(n) > MaxLabelName {
			return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.Custom, Message: "name is too long (maximum is 50 characters)"})
		}
	}
	return nil
}

// tooManyLabels is the 422 for more labels than an issue can have (decision 19).
func tooManyLabels() error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "labels", Code: errs.Custom, Message: "labels are too many (maximum is 100)"})
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

// CreateLabel adds a label to the repository and sets its id. Errors: 404 when
// the repository is gone, 422 when the name is taken.
func (s *Service) CreateLabel(ctx context.Context, l *Label) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, l.RepoID); err != nil {
			return err
		}
		return insertLabel(tx, l)
	})
}

// LabelEdit is what an edit gives a label; what is not given stays.
type LabelEdit struct {
	Name        web.Opt[string]
	Color       web.Opt[string] // six lower-case hexadecimal digits
	Description web.Opt[string] // null and an empty text take it away
}

// EditLabel changes the label of that name. Errors: 404, 422 when the new name
// is another label's.
func (s *Service) EditLabel(ctx context.Context, a *repo.Access, name string, e LabelEdit) (*Label, error) {
	var l *Label
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		if l, err = labelNamed(tx, a.ID, name); err != nil {
			return err
		}
		if e.Name.Given() {
			other, err := labelNamed(tx, a.ID, e.Name.Value)
			if err == nil && other.ID != l.ID {
				return labelTaken()
			}
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			l.Name = e.Name.Value
		}
		l.Color = e.Color.Or(l.Color)
		if e.Description.Set {
			l.Description = orNone(e.Description.Value)
		}
		return updateLabel(tx, l)
	})
	return l, err
}

// labelTaken is the 422 for a name that another label has.
func labelTaken() error {
	return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.AlreadyExists})
}

// orNone makes an empty text absent (decision 19).
func orNone(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// relabel gives an issue the labels that choose makes of those that it has, and
// returns them. Errors: those of choose, 404, 422 for too many.
func (s *Service) relabel(ctx context.Context, a *repo.Access, number int64, choose func(tx *db.Tx, has []*Label) ([]*Label, error)) ([]*Label, error) {
	var labels []*Label
	_, err := s.Change(ctx, a, number, func(c *Change) error {
		has, err := labelsInOrder(c.Tx, a.ID, c.Issue.Labels)
		if err != nil {
			return err
		}
		if labels, err = choose(c.Tx, has); err != nil {
			return err
		}
		if len(labels) > MaxLabels {
			return tooManyLabels()
		}
		return c.SetLabels(labels)
	})
	return labels, err
}

// labelsInOrder finds the labels of an issue in their order, without those that
// were deleted since.
func labelsInOrder(tx *db.Tx, repoID int64, ids []int64) ([]*Label, error) {
	byID, err := labelsByID(tx, repoID, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*Label, 0, len(ids))
	for _, id := range ids {
		if l := byID[id]; l != nil {
			list = append(list, l)
		}
	}
	return list, nil
}
