package posting_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// leaf draws a condition. What only SQL knows is drawn where all is true.
func (w *world) leaf(all bool) posting.Expr {
	r := w.random
	who := func() account.ID { return w.people[r.IntN(len(w.people))] }
	span := func(f posting.Field, most int64) posting.Between {
		b := posting.Between{Field: f, From: r.Int64N(most), To: math.MaxInt64}
		switch r.IntN(3) {
		case 0:
			b.To = b.From + r.Int64N(most/2+1)
		case 1:
			b.From, b.To = math.MinInt64, b.From
		}
		return b
	}
	kinds := 10
	if all {
		kinds = 16
	}
	switch r.IntN(kinds) {
	case 0, 1:
		return posting.InState(issuekit.Open + issuekit.State(r.IntN(2)))
	case 2:
		kinds := []posting.Kind{posting.ByAuthor, posting.ByAssignee, posting.ByMention, posting.BySubscriber}
		return posting.HasUser(kinds[r.IntN(4)], [][]account.ID{{who()}, {who(), who()}}[r.IntN(2)])
	case 3:
		return posting.HasOne(posting.ByMilestone.Of([]int64{posting.None, posting.Any}[r.IntN(2)]))
	case 4:
		either := []posting.Property{posting.ByPull.Of(0), posting.ByLabel.Of(posting.None)}
		return posting.HasOne(either[r.IntN(2)])
	case 5:
		names := [][]string{{"snag"}, {"wish", "late"}, {"none"}}
		return posting.Named{Kind: posting.ByLabel, Names: names[r.IntN(3)]}
	case 6:
		return posting.Named{Kind: posting.ByMilestone, Names: [][]string{{"one"}, {"two", "one"}}[r.IntN(2)]}
	case 7:
		return span(posting.UpdatedAt, 60)
	case 8:
		return span(posting.CommentCount, 3)
	case 9:
		some := posting.In{w.repos[r.IntN(5)].ID, w.repos[r.IntN(5)].ID}
		of := posting.OfRepo{Repos: some}
		if r.IntN(4) == 0 {
			of.Owners = []account.ID{who()}
		}
		return []posting.Expr{posting.IssuesOn{}, some, of, posting.RepoIs(r.IntN(2))}[r.IntN(4)]
	case 10:
		return span([]posting.Field{posting.CreatedAt, posting.ClosedAt, posting.MergedAt}[r.IntN(3)], 60)
	case 11:
		return posting.Is(r.IntN(2))
	case 12:
		return posting.CommentedBy(who())
	case 13:
		return posting.HasOne(posting.ByBranch.Of(r.Int64N(5)))
	default:
		terms := [][]string{{w.word()}, {w.word(), w.word()}}[r.IntN(2)]
		return posting.Text{Terms: terms, Any: r.IntN(4) == 0, In: fulltext.Part(r.IntN(8))}
	}
}

func (w *world) word() string { return vocabulary[w.random.IntN(len(vocabulary))] }

// tree draws a tree that is so many levels deep at most.
func (w *world) tree(depth int, all bool) posting.Expr {
	some := func() (list []posting.Expr) {
		for range w.random.IntN(4) {
			list = append(list, w.tree(depth-1, all))
		}
		return list
	}
	if depth == 0 {
		return w.leaf(all)
	}
	switch w.random.IntN(6) {
	case 0, 1, 2:
		return posting.And(some())
	case 3:
		return posting.Or(some())
	case 4:
		return posting.Not{Expr: w.tree(depth-1, all)}
	}
	return w.leaf(all)
}

func (w *world) query(all bool) posting.Query {
	r := w.random
	q := posting.Query{Where: w.tree(r.IntN(4), all)}
	if r.IntN(5) == 0 { // one property without another
		without := posting.Not{Expr: posting.HasOne([]posting.Property{posting.ByPull.Of(0),
			posting.ByLabel.Of(posting.None), posting.ByAssignee.Of(posting.Any)}[r.IntN(3)])}
		q.Where = posting.And{w.leaf(false), posting.InState(issuekit.Open), without}
	}
	q.Order = posting.Order{Sort: posting.Sort(r.IntN(4)), Asc: r.IntN(2) == 0}
	first := r.IntN(5)
	q.Repos = slices.Clone(w.repos[first : first+[]int{1, 1, 2, 4, 65}[r.IntN(5)]])
	return q
}

type execute func(tx *db.Tx, q posting.Query, offset, size int64) (posting.Found, error)

// check holds a page that is drawn against what looking at every issue finds.
func (w *world) check(name string, tx *db.Tx, random *rand.Rand, q posting.Query, run execute) error {
	w.t.Helper()
	prepared := q
	if err := posting.Prepare(tx, &prepared); err != nil {
		return err
	}
	words, scored := topText(prepared.Where)
	want := w.find(&q, words)
	offset, size := int64(random.IntN(len(want)+10)), int64(1+random.IntN(60))
	if random.IntN(2) == 0 {
		offset = 0
	}
	found, err := run(tx, prepared, offset, size)
	if err != nil {
		w.t.Errorf("%s: %#v", name, q.Where)
		return err
	}
	page := want[min(int(offset), len(want)):min(int(offset+size), len(want))]
	ids := make([]int64, len(page))
	for n, m := range page {
		ids[n] = m.id
	}
	if !slices.Equal(found.IDs, ids) && len(found.IDs)+len(ids) > 0 || found.Total != int64(len(want)) {
		w.t.Fatalf("%s: %#v %+v in %d repositories from %d, %d:\n%v of %d, want\n%v of %d", name,
			q.Where, q.Order, len(q.Repos), offset, size, found.IDs, found.Total, ids, len(want))
	}
	for n, m := range page {
		if scored && found.Scores[n] != m.score(words) {
			w.t.Fatalf("%s: %#v: issue %d scores %d, want %d",
				name, q.Where, m.id, found.Scores[n], m.score(words))
		}
	}
	return nil
}

// amid is the queries that were asked last, amid which others are.
type amid []posting.Query

func (a *amid) find(tx *db.Tx, q posting.Query, offset, size int64) (posting.Found, error) {
	*a = append(*a, q)[max(0, len(*a)-4):]
	list := append([]posting.Query{q}, *a...)
	found, err := posting.FindEach(tx, list, offset+size)
	if err != nil {
		return posting.Found{}, err
	}
	first, last := found[0], found[len(*a)]
	if !slices.Equal(first.IDs, last.IDs) || first.Total != last.Total {
		return posting.Found{}, fmt.Errorf("%+v the first time, %+v the second", first, last)
	}
	from := min(int(offset), len(last.IDs))
	if last.IDs = last.IDs[from:]; last.Scores != nil {
		last.Scores = last.Scores[from:]
	}
	return last, nil
}

// many is a query of the same repositories that does not name them.
func many(q posting.Query) posting.Query {
	q.Many = &posting.Scope{SQL: "SELECT r.id FROM repos r WHERE r.id IN " + db.Values(1, len(q.Repos))}
	for _, r := range q.Repos {
		q.Many.Args = append(q.Many.Args, r.ID)
	}
	return q
}

// Whatever is asked, each executor finds what looking at every issue finds, in the
// same order: a list that lacks an issue, or shows one too many, would be believed
// (decisions 23-25).
func TestExecutorsAgreeWithLookingAtEveryIssue(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		for seed := range uint64(2) {
			w := newWorld(t, engine, seed)
			var together amid
			for range 250 {
				q := w.query(true)
				drawn := w.random.Uint64()
				err := w.d.Read(t.Context(), func(tx *db.Tx) error {
					random := rand.New(rand.NewPCG(drawn, 1))
					if err := w.check("planned", tx, random, q, posting.Find); err != nil {
						return err
					}
					if err := w.check("scan", tx, random, q, posting.Scan); err != nil {
						return err
					}
					if err := w.check("together", tx, random, q, together.find); err != nil {
						return err
					}
					return w.check("many", tx, random, many(q), posting.Find)
				})
				testkit.NoError(t, err)
			}
		}
	})
}

// What a tree says of repositories can be asked first: nothing is lost and nothing is added.
func TestSplitLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, db.SQLite, 5)
	narrowed := 0
	for round := 0; round < 500 || narrowed < 10; round++ {
		if round == 50_000 {
			t.Fatalf("%d trees were narrowed down", narrowed)
		}
		tree := w.tree(w.random.IntN(4), true)
		scope, rest := posting.Split(tree)
		for _, m := range w.issues {
			if got, want := w.meets(m, scope) && w.meets(m, rest), w.meets(m, tree); got != want {
				t.Fatalf("%#v is %t of an issue, split into %#v and %#v it is %t", tree, want,
					scope, rest, got)
			}
		}
		if scope := fmt.Sprintf("%#v", scope); strings.Contains(scope, "OfRepo") ||
			strings.Contains(scope, "RepoIs") {
			narrowed++
		}
		posting.OnRepos(scope, func(any) string { return "$1" }) // has nothing that it does not know
	}
}
