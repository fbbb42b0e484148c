package issues_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/subscription"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// model is an issue as the test knows it.
type model struct {
	id                int64
	repo              repo.ID
	updated, comments int64
	state             issue.State
	has               map[posting.Property]bool
}

// The postings of issues follow them through everything that happens to them: each page holds exactly what a
// look at every issue finds, in the same order (decisions 23-25). The tests of package posting draw more
// conditions.
func TestIssuesAtRandom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		random := rand.New(rand.NewPCG(1, 2))
		w := fillAtRandom(t, s, random)
		for n := range 300 {
			if n%4 == 0 {
				w.change(t, s, random)
				w.read(t, s)
			}
			w.check(t, s, random)
		}
	})
}

// check holds one query, which is drawn, against the model.
func (w *drawnIssues) check(t *testing.T, s *apitest.Server, random *rand.Rand) {
	t.Helper()
	q := randomQuery(random, w)
	want := w.find(q)
	offset, size := int64(random.IntN(len(want)+20)), int64(1+random.IntN(100))
	var got posting.Found
	err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		_, got, err = w.service.Find(tx, q, offset, size)
		return err
	})
	testkit.NoError(t, err)
	from := min(offset, int64(len(want)))
	page := want[from:min(from+size, int64(len(want)))]
	if !slices.Equal(got.IDs, page) || got.Total != int64(len(want)) {
		t.Fatalf("%+v at %d, %d rows: got %d of %d\n%v\nwant %d of %d\n%v", q, offset, size, len(got.IDs),
			got.Total, got.IDs, len(page), len(want), page)
	}
}

type drawnIssues struct {
	issues  []model
	repos   []repo.ID
	props   []posting.Property
	now     db.Time
	service *issue.Service
	people  []*account.Account
	access  []*repo.Access
	all     []place
}

// place is where an issue is.
type place struct {
	a      *repo.Access
	number int64
}

// fillAtRandom creates some hundred issues in many repositories and changes them in all ways through
// issue.Change.
func fillAtRandom(t *testing.T, s *apitest.Server, random *rand.Rand) *drawnIssues {
	w := &drawnIssues{service: s.Server.Forge().Issues}
	for n := range 4 {
		w.people = append(w.people, s.User(t, fmt.Sprint("p", n)))
	}
	for n := range 75 { // more than are read in one statement
		made := s.Repo(t, fmt.Sprintf("p0/r%d", n), false)
		for _, p := range w.people[1:] {
			s.Grant(t, made, p.Login, account.Push)
		}
		w.access = append(w.access, &repo.Access{Repo: made, Role: account.Push})
		w.repos = append(w.repos, made.ID)
	}
	for range 900 {
		w.create(t, random)
	}
	for range 700 {
		w.change(t, s, random)
	}
	w.read(t, s)
	return w
}

func (w *drawnIssues) create(t *testing.T, random *rand.Rand) {
	t.Helper()
	a := *w.access[random.IntN(75)]
	if random.IntN(5) > 0 {
		a = *w.access[min(random.IntN(7), 3)]
	}
	by := w.people[random.IntN(4)]
	a.Caller = &account.Caller{ID: by.ID, Login: by.Login}
	made, err := w.service.Create(t.Context(), &a, issue.NewIssue{
		Title:  fmt.Sprint("issue ", len(w.all)),
		Text:   issue.NewText([]string{"", "ask @p1", "@p2 and @p3"}[random.IntN(3)]),
		Labels: []string{"a", "b", "c"}[:random.IntN(4)], Assignees: []string{"p1", "p2"}[:random.IntN(3)],
		Field: "assignees"})
	testkit.NoError(t, err)
	w.all = append(w.all, place{&a, made.Number})
}

// change changes an issue, or makes one, or alters many by their label.
func (w *drawnIssues) change(t *testing.T, s *apitest.Server, random *rand.Rand) {
	t.Helper()
	p := w.all[random.IntN(len(w.all))]
	which, two, three := random.IntN(4), random.IntN(2), random.IntN(3)
	_, err := w.service.Change(t.Context(), p.a, p.number, func(c *issue.Change) error {
		switch which {
		case 0:
			c.SetState(issue.Open+issue.State(two), issue.NoReason)
		case 1:
			c.SetAssignees([][]account.ID{nil, {w.people[3].ID}, {w.people[1].ID, w.people[3].ID}}[three])
		case 2:
			c.Issue.Comments += int64(three)
			c.Touch()
		default:
			return c.SetLabels(nil)
		}
		return nil
	})
	switch random.IntN(20) {
	case 0:
		w.create(t, random)
	case 1:
		_, err = subscription.New(s.DB, w.service).Subscribe(t.Context(), p.a, p.number,
			subscription.Subscribe+subscription.Wish(random.IntN(2)))
	case 2:
		if err = deletion.New(s.DB, slog.New(slog.DiscardHandler), s.Forge).DeleteLabel(t.Context(), p.a,
			"c"); errs.Is(err, errs.NotFound) {
			err = nil
		}
	}
	testkit.NoError(t, err)
}

// read looks at every row.
func (w *drawnIssues) read(t *testing.T, s *apitest.Server) {
	err := s.DB.Read(context.Background(), func(tx *db.Tx) error {
		seen := map[posting.Property]bool{}
		w.issues, w.props = nil, nil
		rows, err := tx.Query(`SELECT i.id, i.repo_id, i.updated_at, i.comments, i.state, p.kind, p.value
			FROM issues i JOIN postings p ON p.issue_id = i.id ORDER BY i.id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var m model
			var state, kind, value int64
			if err := rows.Scan(&m.id, &m.repo, &m.updated, &m.comments, &state, &kind, &value); err != nil {
				return err
			}
			if n := len(w.issues); n == 0 || w.issues[n-1].id != m.id {
				m.state, m.has = issue.State(state), map[posting.Property]bool{}
				w.issues = append(w.issues, m)
			}
			p := posting.Property{Kind: posting.Kind(kind), Value: value}
			w.issues[len(w.issues)-1].has[p] = true
			if !seen[p] {
				seen[p] = true
				w.props = append(w.props, p)
			}
			w.now = max(w.now, db.Time(m.updated))
		}
		return rows.Err()
	})
	testkit.NoError(t, err)
}

func randomQuery(random *rand.Rand, w *drawnIssues) posting.Query {
	q := posting.Query{Order: posting.Order{Sort: posting.Sort(random.IntN(3)), Asc: random.IntN(2) == 0}}
	var where posting.And
	if state := random.IntN(3); state > 0 {
		where = append(where, posting.InState(state))
	}
	for range random.IntN(3) {
		where = append(where, posting.HasOne(w.props[random.IntN(len(w.props))]))
	}
	if random.IntN(4) == 0 {
		where = append(where, posting.Not{Expr: posting.HasOne(w.props[random.IntN(len(w.props))])})
	}
	if random.IntN(4) == 0 {
		where = append(where, posting.Since(db.Time(w.issues[random.IntN(len(w.issues))].updated)))
	}
	q.Where = where
	first := random.IntN(4)
	for _, id := range w.repos[first : first+[]int{1, 2, 4, 71}[random.IntN(4)]] {
		q.Repos = append(q.Repos, posting.Repo{ID: id})
	}
	return q
}

// meets reports whether an issue matches a condition drawn by randomQuery.
func (m *model) meets(e posting.Expr) bool {
	switch e := e.(type) {
	case posting.Not:
		return !m.meets(e.Expr)
	case posting.Has:
		return m.has[e.Kind.Of(e.Values[0])]
	case posting.InState:
		return m.state == issue.State(e)
	case posting.Between:
		return m.updated >= e.From
	}
	panic(fmt.Sprintf("%T", e))
}

// find is what a query must find.
func (w *drawnIssues) find(q posting.Query) []int64 {
	var list []model
	for _, m := range w.issues {
		in := slices.ContainsFunc(q.Repos, func(r posting.Repo) bool { return r.ID == m.repo })
		if in && !slices.ContainsFunc(q.Where.(posting.And), func(e posting.Expr) bool { return !m.meets(e) }) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b model) int {
		c := 0
		switch q.Order.Sort {
		case posting.Updated:
			c = cmp.Compare(a.updated, b.updated)
		case posting.Comments:
			c = cmp.Compare(a.comments, b.comments)
		}
		if c = cmp.Or(c, cmp.Compare(a.id, b.id)); !q.Order.Asc {
			c = -c
		}
		return c
	})
	ids := make([]int64, len(list))
	for n, m := range list {
		ids[n] = m.id
	}
	return ids
}
