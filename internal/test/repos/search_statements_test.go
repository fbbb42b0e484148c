package repos_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A page takes the same few statements for any query and number of results.
func TestSearchStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(context.Context, string) {
					statements.Add(1)
				}})
		})
		plant(t, s)
		for n := range 40 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues",
				As:   []string{"alice", "bob", "carol"}[n%3],
				Send: fmt.Sprintf(`{"title": "Swarm %d", "labels": ["l%d"]}`, n, n%7), Status: 201})
		}
		x := 0
		for _, q := range []string{"swarm", "is:open", "swarm -crash is:open no:milestone sort:updated",
			`repo:alice/garden involves:bob label:l1,l2 comments:<5`} {
			cost := func(size int) (least int64) {
				least = 1000
				for range 3 { // the server's workers ask for work now and then
					x++
					statements.Store(0)
					s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /search/issues?q=%s&per_page=%d&x=%d",
						url.QueryEscape(q), size, x), As: "bob", Status: 200})
					least = min(least, statements.Load())
				}
				return least
			}
			cost(1) // what changed is indexed now
			few, many := cost(2), cost(30)
			for range 5 { // and more often on a busy machine
				if many > few+2 || many > 16 {
					few, many = min(few, cost(2)), min(many, cost(30))
				}
			}
			if many > few+2 || many > 16 {
				t.Errorf("%s: %d statements for a page of 2, %d for one of 30", q, few, many)
			}
		}
		if long := strings.Repeat("a ", 32); s.Do(t,
			apitest.Case{Do: "GET /search/issues?q=" + url.QueryEscape(long)}).Status != 200 {
			t.Error("as many words as may be are too many for the engine")
		}
	})
}

// Many branch names take one lookup per pull request, and repeated ones take none.
func TestSearchLooksOnce(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, db.SQLite),
			Trace: func(_ context.Context, statement string) {
				for _, table := range []string{"FROM pulls h", "FROM reviews h"} {
					looks.Store(max(looks.Load(), int64(strings.Count(statement, table))))
				}
			}})
	})
	plant(t, s)
	for _, q := range []string{"head:h%d", "base:b%d", "reviewed-by:bob"} {
		many := q
		for n := range 40 {
			many += " " + strings.ReplaceAll(q, "%d", fmt.Sprint(n))
		}
		looks.Store(0)
		s.Check(t, apitest.Case{Do: "GET /search/issues?q=" + url.QueryEscape(many), As: "bob", Status: 200})
		if n := looks.Load(); n < 1 || n > 3 { // for the page, its order and the total
			t.Errorf("%s: %d looks in one statement", q, n)
		}
	}
}

// A search of files ends early when another network waits for its place, and says so. What it found is not
// kept: the next one is whole.
func TestScanEndsForOthers(t *testing.T) {
	t.Parallel()
	slow := filepath.Join(t.TempDir(), "slow")
	testkit.NoError(t, os.WriteFile(slow, nil, 0o600))
	waits := gittest.Wrapped(t, "ls-tree", "while [ -e "+slow+" ]; do sleep 0.05; done")
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		proxies, err := admission.ParseProxies("127.0.0.0/8")
		testkit.NoError(t, err)
		o.Admission = admission.New(1<<30, proxies)
		o.Admission.Patience(testkit.Patience)
		o.Git = gittest.New(t, git.Options{Binary: waits})
	})
	s.User(t, "alice")
	dir := gittest.Bare(t)
	var files strings.Builder
	files.WriteString(gittest.CommitLine("main", 0, "x"))
	for n := range 30 { // more trees than are walked without a process
		files.WriteString(gittest.FileLines(fmt.Sprintf("d%d/f", n), "peas"))
	}
	gittest.Import(t, dir, strings.NewReader(files.String()+"done\n"))
	s.Import(t, s.Repo(t, "alice/garden", false), dir)
	search := func(from, word string) apitest.Case {
		return apitest.Case{Do: "GET /search/code?q=repo:alice/garden+" + word + "&per_page=1", Status: 200,
			Headers: map[string]string{"X-Forwarded-For": from}}
	}
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(first)
		c := search("192.0.2.1", "peas")
		c.Want = `{"incomplete_results": true}`
		s.Check(t, c)
	}()
	testkit.Eventually(t, func() bool { return scans(s).Held == 1 }, "the first searches")
	go func() {
		defer close(second)
		c := search("198.51.100.1", "peas+filename:f")
		c.Want = `{"incomplete_results": false}`
		s.Check(t, c)
	}()
	<-first
	testkit.NoError(t, os.Remove(slow))
	<-second
	c := search("192.0.2.1", "peas")
	c.Want = `{"incomplete_results": false, "total_count": 30}`
	s.Check(t, c)
}

func scans(s *apitest.Server) (found admission.Usage) {
	for _, u := range s.Admitted.Usage() {
		if u.Kind == "scan" {
			found = u
		}
	}
	return found
}
