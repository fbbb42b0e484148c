//go:build long

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/migration"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// An import that is killed again and again ends as one that was not: nothing is missing, and nothing came twice.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, from := newInstance(t, engine), madeExport(t)
		s.user("alice")
		begun := time.Now()
		s.arbor("import", from, "--to", "alice/whole")
		took := time.Since(begun)
		want := exported(t, s, "alice/whole")
		random, kills, enough := seeded(t), 0, 50
		if engine == db.PostgreSQL {
			enough = 10
		}
		for round := 0; kills < enough; round++ {
			to := fmt.Sprintf("alice/killed%d", round)
			// A machine that has become slower would kill each for ever.
			for most := took; !s.killedAfter(time.Duration(random.Int64N(int64(most))), "import", from, "--to", to); most += took / 4 {
				if kills++; kills == 20*enough {
					t.Fatal(s.tells("import", from, "--to", to))
				}
			}
			if got := exported(t, s, to); got != want {
				t.Fatalf("after %d kills %s is\n%.3000s\nwant\n%.3000s", kills, to, got, want)
			}
		}
		s.sound()
		s.start()
		s.sweepAll()
	})
}

// madeExport writes an export with some hundred records of several kinds.
func madeExport(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	to, err := migration.NewSpool(dir)
	testkit.NoError(t, err)
	add := func(k migration.Kind, r migration.Record) { t.Helper(); testkit.NoError(t, to.Add(k, r)) }
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 5 {
		add(migration.People, &migration.Person{Login: fmt.Sprint("person", n)})
		add(migration.Labels, &migration.Label{Name: fmt.Sprint("label ", n), Color: "ededed"})
	}
	for n := range 450 {
		at, who := at.Add(time.Duration(n)*time.Hour), fmt.Sprint("person", n%5)
		body := fmt.Sprint("About #", n/2+1, " and @person1.")
		add(migration.Issues, &migration.Issue{Number: int64(n + 1), Title: fmt.Sprint("Issue ", n), Body: &body, Author: who,
			State: "open", Labels: []string{fmt.Sprint("label ", n%5)}, CreatedAt: at, UpdatedAt: at})
		for c := range 2 {
			id := fmt.Sprint(n*2 + c)
			add(migration.Comments, &migration.Comment{ID: id, Issue: int64(n + 1), Author: who, Body: "Comment " + id,
				CreatedAt: at, UpdatedAt: at})
			add(migration.Reactions, &migration.Reaction{Kind: migration.Comments, To: id, Person: who, Content: "heart",
				CreatedAt: at})
		}
		add(migration.Events, &migration.Event{ID: fmt.Sprint(n), Issue: int64(n + 1), Event: "renamed", Actor: who,
			CreatedAt: at, Rename: []byte(`{"from":"a","to":"b"}`)})
	}
	testkit.NoError(t, to.Close(&migration.Repository{Format: migration.Format, Source: "https://code.example.com/a/b",
		Name: "a/b", DefaultBranch: "main", CreatedAt: at}))
	git := gittest.Repository(t, 20, 3)
	gittest.Run(t, git, "bundle", "create", filepath.Join(dir, "git.bundle"), "--all")
	return dir
}

// ids are what differs between two imports of the same records.
var ids = regexp.MustCompile(`"(id|to|reply_to|source_comment)":"\d+",?`)

// exported returns the records of a repository, without their ids, and its refs.
func exported(t *testing.T, s *instance, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	s.arbor("export", name, dir)
	all := ""
	for _, k := range migration.Kinds {
		text, err := os.ReadFile(filepath.Join(dir, string(k)+".jsonl"))
		if !os.IsNotExist(err) {
			testkit.NoError(t, err)
		}
		all += string(k) + "\n" + ids.ReplaceAllString(string(text), "")
	}
	heads := gittest.Run(t, dir, "bundle", "list-heads", filepath.Join(dir, "git.bundle"))
	testkit.NoError(t, os.RemoveAll(dir))
	return all + heads
}
