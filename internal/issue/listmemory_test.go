package issue_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/sync/errgroup"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/web"
)

// A list that is made from memory must be, byte for byte, the one that SQL makes,
// whatever was changed before and by whom: a list that is a moment behind would
// be kept, and shown, until the next change.
func (w *world) listsFromMemory(t *testing.T, s *apitest.Server) {
	random := rand.New(rand.NewPCG(3, 4))
	at := w.access[1].ID
	if err := w.service.FillIndex(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	made := 0
	for n := range 300 {
		if n%3 == 0 {
			w.change(t, s, random)
			w.surround(t, s, random, n)
		}
		r, a := w.listRequest(t, s, random, at)
		for range 2 { // what is missing is read, and then it is there
			body, etag, link, err := issue.RenderList(w.service, r, a)
			want, wantTag, wantLink, wantErr := issue.RenderList(bySQL(s), r, a)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || string(body) != string(want) || link != wantLink ||
				etag != wantTag {
				t.Fatalf("%s (%s) %v %s\n%s\nwant %v %s\n%s", r.URL, r.Header, err, link, body, wantErr,
					wantLink, want)
			}
		}
		if issue.Kept(w.service, r, a) {
			made++
		}
	}
	if made < 150 {
		t.Errorf("only %d of 300 lists were in memory", made)
	}
}

// bySQL is a service that has nothing in memory.
func bySQL(s *apitest.Server) *issue.Service {
	return issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge)
}

// surround changes what issues show besides themselves.
func (w *world) surround(t *testing.T, s *apitest.Server, random *rand.Rand, n int) {
	t.Helper()
	a := *w.access[1]
	a.Caller = &account.Caller{ID: w.people[0].ID, Login: w.people[0].Login}
	name := func(s string) web.Opt[string] { return web.Opt[string]{Set: true, Value: s} }
	var err error
	switch random.IntN(7) {
	case 0:
		_, err = label.New(s.DB).Edit(t.Context(), &a, []string{"a", "b"}[random.IntN(2)],
			label.Edit{Color: name(fmt.Sprintf("%06x", n))})
	case 1:
		_, err = milestone.New(s.DB).Create(t.Context(), &a, milestone.Edit{Title: name(fmt.Sprint("m", n))})
	case 2:
		_, err = milestone.New(s.DB).Edit(t.Context(), &a, 1,
			milestone.Edit{Title: name(fmt.Sprint("first ", n))})
	case 3:
		err = s.Repos.Grant(t.Context(), a.ID, w.people[1+random.IntN(3)].Login,
			account.Role(1+random.IntN(2)))
	case 4:
		err = w.intoMilestone(t, &a, random)
	case 5:
		w.react(t, s, &a, random)
	}
	if err != nil && !errs.Is(err, errs.NotFound) {
		t.Fatal(err)
	}
}

// intoMilestone puts an issue into the first milestone, if there is one.
func (w *world) intoMilestone(t *testing.T, a *repo.Access, random *rand.Rand) error {
	t.Helper()
	_, err := w.service.Change(t.Context(), a, 1+random.Int64N(60), func(c *issue.Change) error {
		m, err := milestone.ByNumber(c.Tx, a.ID, 1)
		if err != nil {
			return err
		}
		return c.SetMilestone(m)
	})
	return err
}

// react is somebody's reaction to an issue, if there is one of the number.
func (w *world) react(t *testing.T, s *apitest.Server, a *repo.Access, random *rand.Rand) {
	t.Helper()
	s.Do(t, apitest.Case{Do: fmt.Sprintf("POST /repos/p0/%s/issues/%d/reactions", a.Name, 1+random.IntN(60)),
		As:      w.people[random.IntN(4)].Login,
		Headers: map[string]string{"Accept": "application/vnd.github+json"}, Send: `{"content":"heart"}`})
}

// listRequest draws a request for a list, and who asks.
func (w *world) listRequest(
	t *testing.T, s *apitest.Server, random *rand.Rand, repoID repo.ID,
) (*http.Request, *repo.Access) {
	t.Helper()
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	query := "?per_page=" + pick("1", "10", "30", "100") + "&page=" + pick("1", "1", "2", "5") + pick("",
		"&labels=a", "&labels=A,b", "&labels=c", "&labels=nothing") +
		pick("", "", "&milestone=*", "&milestone=none", "&milestone=1", "&milestone=99") + pick("", "",
		"&assignee=p1", "&assignee=none", "&assignee=*") +
		pick("", "", "&creator=P2", "&creator=nobody", "&mentioned=p1") + pick("", "&sort=updated",
		"&sort=comments") + pick("", "&direction=asc") +
		pick("", "&state=closed", "&state=all", "&state=all")
	r := httptest.NewRequest("GET", "/repos/p0/r1/issues"+query, nil)
	info := &web.Info{Site: "http://here", Prefix: pick("http://here", "http://here/api/v3"),
		Media: web.ParseAccept([]string{
			pick("application/json", "application/vnd.github+json", "application/vnd.github.text+json",
				"application/vnd.service.squirrel-girl-preview")})}
	r = web.With(r, info)
	var caller *account.Caller
	if who := random.IntN(5); who < 4 {
		caller = &account.Caller{ID: w.people[who].ID, Login: w.people[who].Login}
	}
	var list []*repo.Access
	err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		list, err = repo.Accesses(tx, caller, []repo.ID{repoID})
		return err
	})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return r, list[0]
}

// Many who list while many change must all be served, and what is kept in the end
// must be what is there: a change that slipped between two readers would be
// missing for as long as the server runs.
func (w *world) manyListWhileManyChange(t *testing.T, s *apitest.Server) {
	random := rand.New(rand.NewPCG(5, 6))
	at := w.access[1].ID
	if err := w.service.FillIndex(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	by := *w.access[1]
	by.Caller = &account.Caller{ID: w.people[0].ID, Login: w.people[0].Login}
	var all errgroup.Group
	for n := range 4 {
		mine, writer := rand.New(rand.NewPCG(7, uint64(n))), rand.New(rand.NewPCG(8, uint64(n)))
		requests := make([]*http.Request, 60)
		accesses := make([]*repo.Access, len(requests))
		for i := range requests {
			requests[i], accesses[i] = w.listRequest(t, s, mine, at)
		}
		all.Go(func() error {
			for i, r := range requests {
				if _, _, _, err := issue.RenderList(w.service, r, accesses[i]); err != nil &&
					!errs.Is(err, errs.Invalid) {
					return err
				}
			}
			return nil
		})
		all.Go(func() error {
			for range 40 {
				number := 1 + writer.Int64N(60)
				_, err := w.service.Change(t.Context(), &by, number, func(c *issue.Change) error {
					c.SetState(issue.Open+issue.State(number%2), issue.NoReason)
					c.Issue.Comments++
					c.Touch()
					return nil
				})
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		r, a := w.listRequest(t, s, random, at)
		body, _, _, err := issue.RenderList(w.service, r, a)
		want, _, _, wantErr := issue.RenderList(bySQL(s), r, a)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || string(body) != string(want) {
			t.Fatalf("%s: %v\n%s\nwant %v\n%s", r.URL, err, body, wantErr, want)
		}
	}
}
