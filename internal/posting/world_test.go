package posting_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/fulltext"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// model is an issue as the test knows it: what a naive executor looks at.
type model struct {
	id                        int64
	repo                      repo.ID
	number                    int64
	state                     issuekit.State
	updated, comments         int64
	created                   int64
	closed, merged            int64 // 0: none
	locked, draft             bool
	title, body               string
	commenters                []account.ID
	commented                 []string // what the comments say
	labels, milestones, other []posting.Property
}

func (m *model) row() posting.Row {
	return posting.Row{IssueID: m.id, RepoID: m.repo, State: m.state,
		UpdatedAt: db.Time(m.updated), Comments: m.comments}
}

// properties are the issue's, each once.
func (m *model) properties() []posting.Property {
	return slices.Concat([]posting.Property{posting.ByAll.Of(0)}, m.labels, m.milestones, m.other)
}

// world is a store at random, and what is in it.
type world struct {
	t      *testing.T
	d      *db.DB
	random *rand.Rand
	repos  []posting.Repo
	people []account.ID
	issues []*model
	names  map[posting.Property]string // of labels and milestones
	labels map[repo.ID][]int64         // by repository
	titles map[repo.ID][]int64         // milestones by repository
}

var vocabulary = strings.Fields("slug snail rake spade bean pea leek kale")

func newWorld(t *testing.T, engine db.Engine, seed uint64) *world {
	w := &world{t: t, d: dbtest.Open(t, engine), random: rand.New(rand.NewPCG(seed, 7)),
		names: map[posting.Property]string{}, labels: map[repo.ID][]int64{}, titles: map[repo.ID][]int64{}}
	log := slog.New(slog.DiscardHandler)
	all := forge.New(w.d, nil, log, "")
	for n := range 5 {
		login := fmt.Sprint("p", n)
		made, err := all.Accounts.CreateUser(t.Context(),
			account.NewUser{Login: login, Name: login, Email: login + "@example.org"})
		testkit.NoError(t, err)
		w.people = append(w.people, made.ID)
	}
	for n := range 70 { // with two states, more ranges than are read together
		made, err := all.Repos.Create(t.Context(), nil, repo.NewRepo{Owner: "p0", Name: fmt.Sprint("r", n)})
		testkit.NoError(t, err)
		w.repos = append(w.repos, posting.Repo{ID: made.ID, IssuesOff: n%5 == 4,
			Owner: w.people[0], Private: n%3 == 1, Archived: n%4 == 2})
	}
	w.write(func(tx *db.Tx) error {
		for _, r := range w.repos {
			if err := w.decorate(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	for range 10 {
		w.write(func(tx *db.Tx) error {
			for range 50 {
				if err := w.add(tx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return w
}

// write runs a transaction whose function changes the model, too. It may run twice:
// the model begins each time as it was.
func (w *world) write(fn func(tx *db.Tx) error) {
	w.t.Helper()
	before, copies := w.issues, map[*model]model{}
	for _, m := range before {
		copies[m] = *m
	}
	err := w.d.Write(context.Background(), func(tx *db.Tx) error {
		w.issues = slices.Clone(before)
		for m, was := range copies {
			*m = was
		}
		return fn(tx)
	})
	testkit.NoError(w.t, err)
}

// decorate returns a repository labels and milestones, of which many are called the
// same elsewhere.
func (w *world) decorate(tx *db.Tx, r posting.Repo) error {
	if r.IssuesOff {
		if _, err := tx.Exec(`UPDATE repos SET has_issues = FALSE WHERE id = $1`, r.ID); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE repos SET private = $2, archived = $3 WHERE id = $1`,
		r.ID, r.Private, r.Archived); err != nil {
		return err
	}
	w.labels[r.ID], w.titles[r.ID] = nil, nil
	for _, name := range []string{"snag", "wish", "late"}[:1+w.random.IntN(3)] {
		var id int64
		if err := tx.QueryRow(`INSERT INTO labels (repo_id, name, name_folded, color, is_default)
			VALUES ($1, $2, $2, 'ffffff', FALSE) RETURNING id`, r.ID, name).Scan(&id); err != nil {
			return err
		}
		w.names[posting.ByLabel.Of(id)] = name
		w.labels[r.ID] = append(w.labels[r.ID], id)
	}
	for n, name := range []string{"one", "two"} {
		var id int64
		if err := tx.QueryRow(`INSERT INTO milestones (repo_id, number, title, state, creator_id, created_at,
			updated_at)
			VALUES ($1, $2, $3, 1, $4, 0, 0)
			RETURNING id`, r.ID, n+1, name, w.people[0]).Scan(&id); err != nil {
			return err
		}
		w.names[posting.ByMilestone.Of(id)] = name
		w.titles[r.ID] = append(w.titles[r.ID], id)
	}
	return nil
}

// draw returns an issue all that lists choose by, at random.
func (w *world) draw(m *model) {
	r := w.random
	m.state, m.closed = issuekit.Open, 0
	if r.IntN(2) == 0 {
		m.state, m.closed = issuekit.Closed, 1+r.Int64N(60)
	}
	m.updated, m.comments = 1+r.Int64N(60), int64(len(m.commenters))
	m.labels, m.milestones, m.other = nil, nil, nil
	for _, id := range w.labels[m.repo] {
		if r.IntN(3) == 0 {
			m.labels = append(m.labels, posting.ByLabel.Of(id))
		}
	}
	if len(m.labels) == 0 {
		m.labels = append(m.labels, posting.ByLabel.Of(posting.None))
	}
	m.milestones = []posting.Property{posting.ByMilestone.Of(posting.None)}
	if r.IntN(2) == 0 {
		m.milestones = []posting.Property{posting.ByMilestone.Of(posting.Any),
			posting.ByMilestone.Of(w.titles[m.repo][r.IntN(2)])}
	}
	m.other = append(m.other, posting.ByAuthor.OfUser(w.people[r.IntN(3)]))
	for _, k := range []posting.Kind{posting.ByAssignee, posting.ByMention, posting.BySubscriber} {
		for _, id := range w.people[:r.IntN(4)] {
			m.other = append(m.other, k.OfUser(id))
		}
	}
	if r.IntN(3) == 0 {
		m.other = append(m.other, posting.ByPull.Of(0), posting.ByBranch.Of(r.Int64N(4)))
	}
}

// sentence is some words at random.
func (w *world) sentence() string {
	var list []string
	for range 1 + w.random.IntN(3) {
		list = append(list, vocabulary[w.random.IntN(len(vocabulary))])
	}
	return strings.Join(list, " ")
}

// add creates an issue: most are in four repositories.
func (w *world) add(tx *db.Tx) error {
	r := w.random
	m := &model{repo: w.repos[r.IntN(len(w.repos))].ID, locked: r.IntN(4) == 0, draft: r.IntN(4) == 0,
		created: r.Int64N(60), title: w.sentence(), body: w.sentence()}
	if r.IntN(4) > 0 {
		m.repo = w.repos[r.IntN(5)].ID
	}
	if r.IntN(4) == 0 {
		m.merged = 1 + r.Int64N(60)
	}
	for range r.IntN(3) {
		m.commenters = append(m.commenters, w.people[r.IntN(4)])
		m.commented = append(m.commented, w.sentence())
	}
	w.draw(m)
	err := tx.QueryRow(`UPDATE repos SET issues_generation = issues_generation + 1,
		next_number = next_number + 1
		WHERE id = $1 RETURNING next_number - 1`, m.repo).Scan(&m.number)
	if err != nil {
		return err
	}
	err = tx.QueryRow(`INSERT INTO issues (repo_id, number, title, body, author_id, state, labels, assignees,
		comments, created_at, updated_at, closed_at, merged_at, locked, draft)
		VALUES ($1, $2, $3, $4, $5, $6, '', '', $7, $8, $9, $10, $11, $12, $13)
		RETURNING id`,
		m.repo, m.number, m.title, m.body, w.people[0], int64(m.state), m.comments,
		m.created, m.updated, db.Time(m.closed), db.Time(m.merged), m.locked, m.draft).Scan(&m.id)
	if err != nil {
		return err
	}
	texts := []fulltext.Text{{Issue: m.id, Repo: int64(m.repo), Title: m.title, Body: m.body}}
	for n, by := range m.commenters {
		var id int64
		if err := tx.QueryRow(`INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at,
			updated_at)
			VALUES ($1, $2, $3, $4, 0, 0)
			RETURNING id`, m.repo, m.id, by, m.commented[n]).Scan(&id); err != nil {
			return err
		}
		texts = append(texts, fulltext.Text{Issue: m.id, Comment: id, Repo: int64(m.repo),
			Body: m.commented[n]})
	}
	w.issues = append(w.issues, m)
	if err := fulltext.Put(tx, texts); err != nil {
		return err
	}
	return posting.Add(tx, m.row(), m.properties())
}

// meets evaluates a tree, looking at one issue.
func (w *world) meets(m *model, e posting.Expr) bool {
	switch e := e.(type) {
	case posting.And:
		return !slices.ContainsFunc(e, func(e posting.Expr) bool { return !w.meets(m, e) })
	case posting.Or:
		return slices.ContainsFunc(e, func(e posting.Expr) bool { return w.meets(m, e) })
	case posting.Not:
		return !w.meets(m, e.Expr)
	case posting.Has:
		return slices.ContainsFunc(m.properties(), func(p posting.Property) bool {
			return p.Kind == e.Kind && slices.Contains(e.Values, p.Value)
		})
	case posting.Named:
		return slices.ContainsFunc(m.properties(), func(p posting.Property) bool {
			return p.Kind == e.Kind && p.Value > 0 && slices.Contains(e.Names, w.names[p])
		})
	case posting.InState:
		return m.state == issuekit.State(e)
	case posting.In:
		return slices.Contains(e, m.repo)
	case posting.IssuesOn, posting.OfRepo, posting.RepoIs:
		at := slices.IndexFunc(w.repos, func(r posting.Repo) bool { return r.ID == m.repo })
		return w.isIn(w.repos[at], e)
	case posting.Is:
		return e == posting.Locked && m.locked || e == posting.Draft && m.draft
	case posting.CommentedBy:
		return slices.Contains(m.commenters, account.ID(e))
	case posting.Text:
		return m.score(e) > 0
	case posting.Between:
		value, none := m.updated, false
		switch e.Field {
		case posting.CommentCount:
			value = m.comments
		case posting.CreatedAt:
			value = m.created
		case posting.ClosedAt:
			value, none = m.closed, m.closed == 0
		case posting.MergedAt:
			value, none = m.merged, m.merged == 0
		}
		return !none && e.From <= value && value < e.To
	}
	panic(fmt.Sprintf("%T", e))
}

// isIn evaluates a condition on repositories.
func (w *world) isIn(r posting.Repo, e posting.Expr) bool {
	switch e := e.(type) {
	case posting.OfRepo:
		return slices.Contains(e.Repos, r.ID) || slices.Contains(e.Owners, r.Owner)
	case posting.RepoIs:
		return map[posting.RepoIs]bool{posting.Private: r.Private, posting.Archived: r.Archived}[e]
	}
	return !r.IssuesOff
}

// score is the sum of what each term scores; 0: the issue is not found.
func (m *model) score(e posting.Text) (sum int64) {
	missing := false
	for _, term := range e.Terms {
		best := int64(0)
		note := func(part fulltext.Part, text string, score int64) {
			if (e.In == 0 || e.In&part != 0) && slices.Contains(strings.Fields(text), term) {
				best = max(best, score)
			}
		}
		note(fulltext.InTitle, m.title, 4)
		note(fulltext.InBody, m.body, 2)
		for _, c := range m.commented {
			note(fulltext.InComments, c, 1)
		}
		missing = missing || best == 0
		sum += best
	}
	if missing && !e.Any {
		return 0
	}
	return sum
}

// find is what a query must find: all of it, in order. The words are those whose
// score counts.
func (w *world) find(q *posting.Query, words posting.Text) (list []*model) {
	for _, m := range w.issues {
		in := slices.ContainsFunc(q.Repos, func(r posting.Repo) bool { return r.ID == m.repo })
		if in && w.meets(m, q.Where) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *model) int {
		c := 0
		switch {
		case q.Order.Sort == posting.Updated:
			c = cmp.Compare(a.updated, b.updated)
		case q.Order.Sort == posting.Comments:
			c = cmp.Compare(a.comments, b.comments)
		case q.Order.Sort == posting.Score && words.Terms != nil:
			c = cmp.Compare(a.score(words), b.score(words))
		}
		if c = cmp.Or(c, cmp.Compare(a.id, b.id)); !q.Order.Asc {
			c = -c
		}
		return c
	})
	return list
}

// topText is the words whose score counts.
func topText(e posting.Expr) (posting.Text, bool) {
	if all, ok := e.(posting.And); ok {
		for _, e := range all {
			if words, ok := e.(posting.Text); ok {
				return words, true
			}
		}
	}
	words, ok := e.(posting.Text)
	return words, ok
}
