package issue

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/posting"
)

// row returns the fields of the issue that its postings store.
func (i *Issue) row() posting.Row {
	return posting.Row{IssueID: int64(i.ID), RepoID: i.RepoID, State: i.State, UpdatedAt: i.UpdatedAt,
		Comments: i.Comments}
}

// Properties returns the properties that follow from the issue's row. Mentions and subscriptions do not:
// they exist only as postings.
func (i *Issue) Properties() []posting.Property {
	list := make([]posting.Property, 0, 8+len(i.Labels)+len(i.Assignees))
	list = append(list, posting.ByAll.Of(0), posting.ByAuthor.OfUser(i.AuthorID))
	if i.Pull {
		list = append(list, posting.ByPull.Of(0))
	}
	list = appendEach(list, posting.ByAssignee, i.Assignees)
	if len(i.Assignees) > 0 {
		list = append(list, posting.ByAssignee.Of(posting.Any))
	}
	if i.MilestoneID == 0 {
		list = append(list, posting.ByMilestone.Of(posting.None))
	} else {
		list = append(list, posting.ByMilestone.Of(i.MilestoneID), posting.ByMilestone.Of(posting.Any))
	}
	return appendEach(list, posting.ByLabel, i.Labels)
}

func appendEach[ID ~int64](list []posting.Property, k posting.Kind, values []ID) []posting.Property {
	if len(values) == 0 {
		return append(list, k.Of(posting.None))
	}
	for _, v := range values {
		list = append(list, k.Of(int64(v)))
	}
	return list
}

// post updates the postings and counters of an issue; before is nil for a new one. more are new properties
// that do not follow from the row, and less are removed ones.
func post(tx *db.Tx, before, after *Issue, more, less []posting.Property) error {
	if before == nil {
		return posting.Add(tx, after.row(), append(after.Properties(), more...))
	}
	had, has := before.Properties(), after.Properties()
	gone := append(without(had, has), less...)
	if len(gone) > 0 {
		if err := posting.Drop(tx, before.row(), gone); err != nil {
			return err
		}
	}
	if before.State != after.State {
		if err := posting.MoveCounts(tx, after.ID, before.State, after.State); err != nil {
			return err
		}
	}
	if before.State != after.State || before.UpdatedAt != after.UpdatedAt ||
		before.Comments != after.Comments {
		if err := posting.Move(tx, after.row()); err != nil {
			return err
		}
	}
	if fresh := append(without(has, had), more...); len(fresh) > 0 {
		return posting.Add(tx, after.row(), fresh)
	}
	return nil
}

// without returns the properties in list that are not in others.
func without(list, others []posting.Property) []posting.Property {
	var rest []posting.Property
	for _, p := range list {
		if !slices.Contains(others, p) {
			rest = append(rest, p)
		}
	}
	return rest
}
