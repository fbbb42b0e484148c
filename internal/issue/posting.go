package issue

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/posting"
)

// row is what the issue's postings hold of it.
func (i *Issue) row() posting.Row {
	return posting.Row{IssueID: int64(i.ID), RepoID: i.RepoID, State: i.State, UpdatedAt: i.UpdatedAt,
		Comments: i.Comments}
}

// Properties are those that follow from the issue's row. Mentions and
// subscriptions do not: they are postings alone.
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

// post makes the postings and counters follow an issue's row; before is nil
// when it is new. more are properties besides those of the row, which the issue
// did not have, and less those which it has no longer.
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

// without gives the properties of list that are not among others.
func without(list, others []posting.Property) []posting.Property {
	var rest []posting.Property
	for _, p := range list {
		if !slices.Contains(others, p) {
			rest = append(rest, p)
		}
	}
	return rest
}
