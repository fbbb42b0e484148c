package posting_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
)

const garden repo.ID = 1

// plant creates a repository of three issues, of which the third is closed. Each has its postings: all have
// an author, the first two a label.
func plant(t *testing.T, d *db.DB) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO accounts (id, login, login_folded, kind, created_at, updated_at) VALUES (1, 'a', 'a', 1, 1, 1)`,
		`INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch, created_at, updated_at,
			pushed_at)
			VALUES (1, 1, 'garden', 'garden', FALSE, 'main', 1, 1, 1)`,
		`INSERT INTO issues (id, repo_id, number, title, author_id, state, labels, assignees, created_at,
			updated_at)
			VALUES (11, 1, 1, 'x', 1, 1, '', '', 1, 1), (12, 1, 2, 'x', 1, 1, '', '', 1, 1), (13, 1, 3, 'x',
			1, 2, '', '', 1, 1)`,
	} {
		dbtest.MustWrite(t, d, dbtest.Statement(statement))
	}
	label, author := posting.ByLabel.Of(7), posting.ByAuthor.OfUser(1)
	dbtest.MustWrite(t, d, func(tx *db.Tx) error {
		for id, list := range map[int64][]posting.Property{11: {label, author}, 12: {label, author},
			13: {author}} {
			if err := posting.Add(tx, row(id, issuekit.Open), list); err != nil {
				return err
			}
		}
		if err := posting.MoveCounts(tx, int64(13), issuekit.Open, issuekit.Closed); err != nil {
			return err
		}
		return posting.Move(tx, row(13, issuekit.Closed))
	})
}

func row(id int64, s issuekit.State) posting.Row {
	return posting.Row{IssueID: id, RepoID: garden, State: s, UpdatedAt: db.Time(id), Comments: id - 10}
}

// The counters of a property tell at any time how many postings it has in each state.
func TestCounters(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		plant(t, d)
		label, author := posting.ByLabel.Of(7), posting.ByAuthor.OfUser(1)
		holds := func(what string, want string) {
			t.Helper()
			var got string
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				got = ""
				for _, p := range []posting.Property{label, author} {
					total, err := posting.Total(tx, garden, p)
					if err != nil {
						return err
					}
					open, err := posting.TotalIn(tx, garden, p, issuekit.Open)
					if err != nil {
						return err
					}
					got += fmt.Sprintf("%d of %d open; ", open, total)
				}
				return nil
			})
			if err != nil || got != want {
				t.Errorf("%s: %q, want %q (%v)", what, got, want, err)
			}
			wrong := dbtest.Number(t, d, `SELECT count(*) FROM posting_counts c WHERE n <> (SELECT count(*)
				FROM postings p
				WHERE p.repo_id = c.repo_id AND p.kind = c.kind AND p.value = c.value AND p.state = c.state)`)
			if wrong != 0 {
				t.Errorf("%s: %d counters are wrong", what, wrong)
			}
		}
		holds("at first", "2 of 2 open; 2 of 3 open; ")
		dbtest.MustWrite(t, d, func(tx *db.Tx) error {
			return posting.Drop(tx, row(12, issuekit.Open), []posting.Property{label})
		})
		holds("a label is taken off", "1 of 1 open; 2 of 3 open; ")
		dbtest.MustWrite(t, d, func(tx *db.Tx) error {
			if err := posting.MoveCounts(tx, int64(11), issuekit.Open, issuekit.Closed); err != nil {
				return err
			}
			return posting.Move(tx, row(11, issuekit.Closed))
		})
		holds("an issue is closed", "0 of 1 open; 1 of 3 open; ")
		dbtest.MustWrite(t, d, func(tx *db.Tx) error {
			if err := posting.Drop(tx, row(11, issuekit.Closed), []posting.Property{label}); err != nil {
				return err
			}
			return posting.DropCounts(tx, garden, label)
		})
		holds("the label is gone", "0 of 0 open; 1 of 3 open; ")
		if n := dbtest.Number(t, d, `SELECT count(*) FROM posting_counts WHERE kind = $1`,
			int64(posting.ByLabel)); n != 0 {
			t.Errorf("%d counters of the label are left", n)
		}
	})
}

// Postings hold what lists are ordered by, of all properties of the issue.
func TestMove(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		plant(t, d)
		dbtest.MustWrite(t, d, func(tx *db.Tx) error {
			return posting.Move(tx, posting.Row{IssueID: 11, State: issuekit.Closed, UpdatedAt: 99,
				Comments: 5})
		})
		const moved = `SELECT count(*) FROM postings WHERE state = 2 AND updated_at = 99 AND comments = 5 AND issue_id = 11`
		if n := dbtest.Number(t, d, moved); n != 2 {
			t.Errorf("%d postings moved, want 2", n)
		}
		if n := dbtest.Number(t, d, `SELECT count(*) FROM postings WHERE updated_at = 99`); n != 2 {
			t.Errorf("%d postings have the time, want those of one issue", n)
		}
	})
}

// Which of some accounts an issue has.
func TestWhich(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		plant(t, d)
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			for _, c := range []struct {
				issue int64
				kind  posting.Kind
				asked []account.ID
				want  string
			}{
				{11, posting.ByAuthor, []account.ID{1, 2}, "map[1:true]"},
				{11, posting.ByAuthor, nil, "map[]"},
				{11, posting.ByAssignee, []account.ID{1}, "map[]"},
				{14, posting.ByAuthor, []account.ID{1}, "map[]"},
			} {
				has, err := posting.Which(tx, c.issue, c.kind, c.asked)
				if err != nil {
					return err
				}
				if got := fmt.Sprint(has); got != c.want {
					t.Errorf("%+v: %s", c, got)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
