package issue

import (
	"fmt"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
)

// checkedKinds are the kinds of postings that follow from an issue's row. The others (mentions, of teams too,
// subscriptions, branches) cannot be derived from it.
var checkedKinds = []posting.Kind{posting.ByAll, posting.ByAuthor, posting.ByAssignee, posting.ByMilestone,
	posting.ByLabel, posting.ByPull}

// Unposted is an issue whose postings do not match its row.
type Unposted struct {
	Issue   *Issue
	Problem string
	missing []posting.Property
	extra   []posting.Property
}

// CheckPostings compares the postings of issues with their rows, for up to limit issues after the id after,
// in the order of ids. last is the id to continue after, or 0 at the end.
func CheckPostings(tx *db.Tx, after ID, limit int64) (wrong []*Unposted, seen int64, last ID, err error) {
	list, err := queryIssues(tx, ` WHERE i.id > $1 ORDER BY i.id LIMIT $2`, after, limit)
	if err != nil || len(list) == 0 {
		return nil, 0, 0, err
	}
	last = list[len(list)-1].ID
	posted, err := postedOf(tx, ` issue_id > $1 AND issue_id <= $2`, after, last)
	if err != nil {
		return nil, 0, 0, err
	}
	for _, i := range list {
		if u := i.comparePostings(posted[i.ID]); u != nil {
			wrong = append(wrong, u)
		}
	}
	return wrong, int64(len(list)), last, nil
}

// RepairPostings corrects the postings of an issue and their counters. It compares them again under the
// lock and returns what was wrong, or nil.
func RepairPostings(tx *db.Tx, i *Issue) (*Unposted, error) {
	if err := issuekit.Lock(tx, i.RepoID); err != nil {
		return nil, err
	}
	list, err := queryIssues(tx, ` WHERE i.id = $1`, i.ID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	posted, err := postedOf(tx, ` issue_id = $1`, i.ID)
	if err != nil {
		return nil, err
	}
	u := list[0].comparePostings(posted[i.ID])
	if u == nil {
		return nil, nil
	}
	return u, u.repair(tx)
}

func (u *Unposted) repair(tx *db.Tx) error {
	row := u.Issue.row()
	if len(u.extra) > 0 {
		if err := posting.Drop(tx, row, u.extra); err != nil {
			return err
		}
	}
	if len(u.missing) > 0 {
		if err := posting.Add(tx, row, u.missing); err != nil {
			return err
		}
	}
	return posting.Move(tx, row)
}

// posted holds the postings of an issue.
type posted struct {
	rows map[posting.Row]bool // the issue's fields stored in postings; one if they are consistent
	list []posting.Property
}

func postedOf(tx *db.Tx, where string, args ...any) (map[ID]*posted, error) {
	found := map[ID]*posted{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var r posting.Row
		var p posting.Property
		if err := row.Scan(&r.IssueID, &p.Kind, &p.Value, &r.RepoID, &r.State, &r.UpdatedAt,
			&r.Comments); err != nil {
			return err
		}
		at := found[ID(r.IssueID)]
		if at == nil {
			at = &posted{rows: map[posting.Row]bool{}}
			found[ID(r.IssueID)] = at
		}
		at.rows[r] = true
		if slices.Contains(checkedKinds, p.Kind) {
			at.list = append(at.list, p)
		}
		return nil
	}, `SELECT issue_id, kind, value, repo_id, state, updated_at, comments FROM postings
		WHERE`+where, args...)
	return found, err
}

// comparePostings returns nil if the postings match the row.
func (i *Issue) comparePostings(p *posted) *Unposted {
	if p == nil {
		p = &posted{}
	}
	u := &Unposted{Issue: i}
	should := i.Properties()
	u.missing, u.extra = without(should, p.list), without(p.list, should)
	switch {
	case len(u.missing) > 0:
		u.Problem = fmt.Sprintf("the index of issues lacks %d properties", len(u.missing))
	case len(u.extra) > 0:
		u.Problem = fmt.Sprintf("the index of issues has %d properties too many", len(u.extra))
	case len(p.rows) != 1 || !p.rows[i.row()]:
		u.Problem = "the index of issues has another state, time or number of comments"
	default:
		return nil
	}
	return u
}
