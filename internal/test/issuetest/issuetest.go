// Package issuetest fills a store with a big tracker, for tests and benchmarks
// of what a tracker costs once it has grown.
//
//	issuetest.go   Options, Fill: people, repositories, labels and milestones
//	draw.go        what issues there are, drawn by lot
//	words.go       what they say
//	store.go       the SQL that adds them by the thousand
//	request.go     single issues and comments, by the interface
//	index.go       whether the index of issues agrees with their rows
//
// People, repositories, labels and milestones are made by the operations that
// serve requests. Issues, comments and events are rows that are written
// directly, in the state that those operations would have left them in: a test
// of package issue holds the postings and counters against the real code.
package issuetest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Options say how big a tracker is. What is zero gets the value of Million.
type Options struct {
	Org        string // login of the organization that owns the repositories
	First      string // login of an account that is there and becomes the busiest person; empty: one is made
	Repos      []int  // how many issues each repository has
	People     int
	Labels     int  // of each repository, with the nine that it begins with
	Milestones int  // of each repository
	History    bool // comments and events are there, too; else issues count comments that are not
	Texts      bool // the words of issues can be searched; those of comments a server indexes when it starts
	Seed       uint64
}

// Million is a tracker of a million issues in ten repositories, a hundred
// thousand of them in the first.
func Million() Options {
	return Options{
		Org: "works", Repos: []int{100_000, 300_000, 200_000, 150_000, 100_000, 75_000, 50_000, 15_000,
			7_000, 3_000},
		People: 50, Labels: 20, Milestones: 10, Seed: 1,
	}
}

// Thousand is as Million, with a thousandth of the issues: most of them in the
// first repository, so that its pages are full.
func Thousand() Options {
	o := Million()
	o.Repos = []int{910, 10, 10, 10, 10, 10, 10, 10, 10, 10}
	return o
}

// Mixed is as Million, with a thousandth of the issues in each repository: lists
// across them show as many repositories as those of Million do.
func Mixed() Options {
	o := Million()
	o.Repos = []int{100, 300, 200, 150, 100, 75, 50, 15, 7, 3}
	return o
}

func (o Options) withDefaults() Options {
	d := Million()
	if o.Org == "" {
		o.Org = d.Org
	}
	if len(o.Repos) == 0 {
		o.Repos = d.Repos
	}
	if o.People == 0 {
		o.People = d.People
	}
	if o.Labels == 0 {
		o.Labels = d.Labels
	}
	if o.Milestones == 0 {
		o.Milestones = d.Milestones
	}
	return o
}

// Tracker is what Fill made. What is more frequent comes first everywhere.
type Tracker struct {
	People []*account.Account
	Repos  []*Repo
}

// Repo is a repository of a Tracker.
type Repo struct {
	*repo.Repo
	Labels     []*label.Label
	Milestones []*milestone.Milestone
	Issues     int
}

// team is how many of the people may push, and so be assigned.
const team = 8

// The tracker's first issue is as old as that, and nothing in it is younger.
var (
	begin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	end   = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Fill adds a tracker to a store. The same options give the same tracker, but
// for the times at which accounts and repositories were made. A failure leaves
// the store unfit for use: indexes are missing.
func Fill(ctx context.Context, d *db.DB, o Options) (*Tracker, error) {
	o = o.withDefaults()
	f := &filler{d: d, forge: forge.New(d, nil, slog.New(slog.DiscardHandler), ""), o: o,
		random: rand.New(rand.NewPCG(o.Seed, 0)), counts: map[counter]int64{}}
	if err := f.people(ctx); err != nil {
		return nil, err
	}
	if err := f.repos(ctx); err != nil {
		return nil, err
	}
	rebuild, err := dropIndexes(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := f.issues(ctx); err != nil {
		return nil, err
	}
	if err := f.finish(ctx); err != nil {
		return nil, err
	}
	return &f.made, rebuild(ctx)
}

// filler is a tracker in the making.
type filler struct {
	d      *db.DB
	forge  *forge.Forge
	o      Options
	random *rand.Rand
	made   Tracker
	counts map[counter]int64
	open   map[repo.ID]int64 // by repository
	later  pending
}

// Login is what the nth person is called, from 0, unless Options.First is.
func Login(n int) string { return fmt.Sprintf("%s%d", firstNames[n%len(firstNames)], n) }

// Label is what the nth label of a repository is called, from 0.
func Label(n int) string {
	if n < len(defaults) {
		return defaults[n]
	}
	name := "area/" + areas[n%len(areas)]
	if n >= len(areas) {
		name += fmt.Sprint(n)
	}
	return name
}

// people creates the accounts and the organization.
func (f *filler) people(ctx context.Context) error {
	accounts := f.forge.Accounts
	for n := range f.o.People {
		if n == 0 && f.o.First != "" {
			err := f.d.Read(ctx, func(tx *db.Tx) error {
				first, err := account.ByLogin(tx, f.o.First)
				f.made.People = []*account.Account{first}
				return err
			})
			if err != nil {
				return err
			}
			continue
		}
		login := Login(n)
		made, err := accounts.CreateUser(ctx,
			account.NewUser{Login: login, Name: login, Email: login + "@example.org"})
		if err != nil {
			return err
		}
		f.made.People = append(f.made.People, made)
	}
	_, err := accounts.CreateOrg(ctx, f.o.Org, f.made.People[0].Login)
	return err
}

// repos creates the repositories, whom they let push, their labels and milestones.
func (f *filler) repos(ctx context.Context) error {
	repos := f.forge.Repos
	for n, size := range f.o.Repos {
		made, err := repos.Create(ctx, nil, repo.NewRepo{Owner: f.o.Org, Name: fmt.Sprintf("project%d", n)})
		if err != nil {
			return err
		}
		r := &Repo{Repo: made, Issues: size}
		for _, p := range f.made.People[:min(team, len(f.made.People))] {
			if err := repos.Grant(ctx, made.ID, p.Login, account.Push); err != nil {
				return err
			}
		}
		if err := f.labels(ctx, r); err != nil {
			return err
		}
		by := &repo.Access{Repo: made, Role: account.Admin,
			Caller: &account.Caller{ID: f.made.People[0].ID, Login: f.made.People[0].Login}}
		if err := f.milestones(ctx, by, r); err != nil {
			return err
		}
		f.made.Repos = append(f.made.Repos, r)
	}
	return nil
}

func (f *filler) milestones(ctx context.Context, by *repo.Access, r *Repo) error {
	for n := range f.o.Milestones {
		m, err := milestone.New(f.d).Create(ctx,
			by, milestone.Edit{Title: given(fmt.Sprintf("%d.%d", 1+n/4, n%4)),
				Description: given(sentence(f.random))})
		if err != nil {
			return err
		}
		r.Milestones = append(r.Milestones, m)
	}
	return nil
}

// labels adds labels to those that a repository begins with, and reads all.
func (f *filler) labels(ctx context.Context, r *Repo) error {
	err := f.d.Read(ctx, func(tx *db.Tx) (err error) {
		r.Labels, err = firstLabels(tx, r.ID, f.o.Labels)
		return err
	})
	for n := len(r.Labels); err == nil && n < f.o.Labels; n++ {
		var l *label.Label
		l, err = label.New(f.d).Create(ctx, &repo.Access{Repo: r.Repo}, label.Edit{Name: given(Label(n)),
			Color: given(fmt.Sprintf("%06x", f.random.IntN(1<<24)))})
		r.Labels = append(r.Labels, l)
	}
	return err
}

func given(s string) web.Opt[string] { return web.Opt[string]{Set: true, Value: s} }
