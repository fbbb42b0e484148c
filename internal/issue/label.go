package issue

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/repo"
)

// tooManyLabels is the 422 for more labels than an issue can have (decision 19).
func tooManyLabels() error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "labels", Code: errs.Custom, Message: "labels are too many (maximum is 100)"})
}

// labelsFor finds the labels of an issue by their names, in the order given,
// and makes those that are not there (decision 32). Errors: 422.
func labelsFor(tx *db.Tx, repoID repo.ID, names []string) ([]*label.Label, error) {
	if len(names) > MaxLabels {
		return nil, tooManyLabels()
	}
	return label.Ensure(tx, repoID, names)
}

// relabel gives an issue the labels that choose makes of those that it has, and
// returns them. Errors: those of choose, 404, 422 for too many.
func (s *Service) relabel(ctx context.Context, a *repo.Access, number int64, choose func(tx *db.Tx, has []*label.Label) ([]*label.Label, error)) ([]*label.Label, error) {
	var labels []*label.Label
	_, err := s.Change(ctx, a, number, func(c *Change) error {
		has, err := label.InOrder(c.Tx, a.ID, c.Issue.Labels)
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
