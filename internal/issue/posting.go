package issue

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/tracker"
)

// Kind is a kind of property that issues are found by.
type Kind int64

// The kinds of properties, as they are stored, and what their values are.
const (
	ByAll        Kind = 1                              // 0: every issue has it
	ByAuthor     Kind = 2                              // an account's id
	ByAssignee   Kind = 3                              // an account's id, None or Any
	ByMilestone  Kind = Kind(tracker.MilestonePosting) // a milestone's id, None or Any
	ByLabel      Kind = Kind(tracker.LabelPosting)     // a label's id, or None
	ByMention    Kind = 6                              // the id of an account that the issue or a comment mentions
	BySubscriber Kind = 7                              // the id of an account that is subscribed (decision 14)
	ByPull       Kind = 8                              // 0: it is a pull request
	ByBranch     Kind = 10                             // the id of a branch that package pull lists by
	ofComments   Kind = 9                              // no property: counts the comments in a repository
)

// Values that are no ids.
const (
	None int64 = 0
	Any  int64 = -1
)

// Property is what a posting says of its issue.
type Property struct {
	Kind  Kind
	Value int64
}

// Properties are those that follow from the issue's row. Mentions and
// subscriptions do not: they are postings alone.
func (i *Issue) Properties() []Property {
	list := make([]Property, 0, 8+len(i.Labels)+len(i.Assignees))
	list = append(list, Property{ByAll, 0}, Property{ByAuthor, i.AuthorID})
	if i.Pull {
		list = append(list, Property{ByPull, 0})
	}
	list = appendEach(list, ByAssignee, i.Assignees)
	if len(i.Assignees) > 0 {
		list = append(list, Property{ByAssignee, Any})
	}
	if i.MilestoneID == 0 {
		list = append(list, Property{ByMilestone, None})
	} else {
		list = append(list, Property{ByMilestone, i.MilestoneID}, Property{ByMilestone, Any})
	}
	return appendEach(list, ByLabel, i.Labels)
}

func appendEach(list []Property, k Kind, values []int64) []Property {
	if len(values) == 0 {
		return append(list, Property{k, None})
	}
	for _, v := range values {
		list = append(list, Property{k, v})
	}
	return list
}

// post makes the postings and counters follow an issue's row; before is nil
// when it is new. more are properties besides those of the row, which the issue
// did not have.
func post(tx *db.Tx, before, after *Issue, more []Property) error {
	if before == nil {
		return addPostings(tx, after, append(after.Properties(), more...))
	}
	had, has := before.Properties(), after.Properties()
	gone := without(had, has)
	if len(gone) > 0 {
		if err := dropPostings(tx, before, gone); err != nil {
			return err
		}
	}
	if before.State != after.State {
		if err := moveCounts(tx, after.ID, before.State, after.State); err != nil {
			return err
		}
	}
	if before.State != after.State || before.UpdatedAt != after.UpdatedAt || before.Comments != after.Comments {
		if err := movePostings(tx, after); err != nil {
			return err
		}
	}
	if fresh := append(without(has, had), more...); len(fresh) > 0 {
		return addPostings(tx, after, fresh)
	}
	return nil
}

// without gives the properties of list that are not among others.
func without(list, others []Property) []Property {
	var rest []Property
	for _, p := range list {
		if !slices.Contains(others, p) {
			rest = append(rest, p)
		}
	}
	return rest
}
