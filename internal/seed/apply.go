package seed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/server"
	"arbor/internal/web"
)

// Store says what is filled with a seed.
type Store struct {
	DataDir  string     // the data folder
	Database db.Options // its clock is the seed's while the seed is applied
	Git      git.Options
}

// Errors of stores that are not there for a seed.
var (
	// ErrNotEmpty says that a store holds something else than the seed.
	ErrNotEmpty = errors.New("the store is not empty: a seed goes into an empty one, or into one that was filled with the very same seed")
	// ErrUnfinished says that a store is half filled.
	ErrUnfinished = errors.New("the store is half filled with a seed: unless a server is at it, start one with --seed, which empties the store and begins anew")
	// ErrFilling says that another process fills the store now.
	ErrFilling = errors.New("the store is being filled with a seed by another process")
)

// Held reports whether a store was filled with this very seed, whatever became of
// it since. Errors: ErrNotEmpty for a store that holds anything else; none for
// one that is half filled, which Fill empties.
func Held(ctx context.Context, s *Seed, o db.Options) (same bool, err error) {
	d, err := db.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	same, _, err = holds(ctx, d, s)
	return same, err
}

// CheckWhole returns ErrUnfinished for a store that is half filled with a seed:
// whatever people did there, Fill would take away.
func CheckWhole(ctx context.Context, d *db.DB) error {
	return d.Read(ctx, func(tx *db.Tx) error {
		c, err := held(tx)
		if err == nil && c.unfinished {
			err = ErrUnfinished
		}
		return err
	})
}

func holds(ctx context.Context, d *db.DB, s *Seed) (same, unfinished bool, err error) {
	var c contents
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		c, err = held(tx)
		return err
	})
	switch {
	case err != nil:
		return false, false, err
	case c.unfinished:
		return false, true, nil
	case bytes.Equal(c.digest, s.Digest[:]):
		return true, false, nil
	case !c.empty:
		return false, false, ErrNotEmpty
	}
	return false, false, nil
}

// Fill opens an empty store, which nothing else uses, and applies the seed to it;
// it does nothing to a store that holds this very seed. A store that was half
// filled, with whatever seed, by a process that is no more, is emptied first.
// Errors: ErrNotEmpty; ErrFilling; *Error for what the seed asks for and cannot
// have, found out on the way: then the store is half filled. See Rehearse.
func Fill(ctx context.Context, s *Seed, to Store) (err error) {
	mine, err := lockStore(to.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mine.release(err == nil)) }()
	g, err := git.New(ctx, to.Git)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	time := &clock{}
	time.set(s.Start)
	to.Database.Now = time.now
	d, same, err := open(ctx, s, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if same {
		return nil
	}
	if err := d.Write(ctx, func(tx *db.Tx) error { return begin(tx, s.Digest[:]) }); err != nil {
		return err
	}
	log := quiet(to.Database.Log)
	srv := server.New(server.Options{DB: d, Git: g, Log: log, DataDir: to.DataDir, Graduated: true})
	a := &applier{s: s, clock: time, server: srv, repos: srv.Services().Repos, accounts: account.New(d, log),
		callers: map[string]*account.Caller{}, made: map[*Repo]bool{}}
	if err := a.apply(ctx); err != nil {
		return err
	}
	a.repos.Wait()
	return d.Write(ctx, finish)
}

// open opens a store that holds nothing, or the same seed. One that is half
// filled is emptied: the objects first, since the database tells what it is.
func open(ctx context.Context, s *Seed, to Store) (d *db.DB, same bool, err error) {
	if d, err = db.Open(ctx, to.Database); err != nil {
		return nil, false, err
	}
	same, unfinished, err := holds(ctx, d, s)
	if err == nil && !unfinished {
		return d, same, nil
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, false, err
	}
	if err := os.RemoveAll(server.RepositoriesDir(to.DataDir)); err != nil {
		return nil, false, err
	}
	if err := db.Erase(ctx, to.Database); err != nil {
		return nil, false, err
	}
	if to.Database.Log != nil {
		to.Database.Log.Info("the store was half filled with a seed by a process that is no more: it was emptied")
	}
	d, err = db.Open(ctx, to.Database)
	return d, false, err
}

// Rehearse applies the seed to a store in a temporary folder, so that what it
// asks for and cannot have is known before another store is touched. Errors:
// those of Fill.
func Rehearse(ctx context.Context, s *Seed, o git.Options) (err error) {
	dir, err := os.MkdirTemp("", "arbor-rehearsal-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Log = quiet(o.Log)
	return Fill(ctx, s, Store{DataDir: dir, Git: o, Database: db.Options{URL: filepath.Join(dir, "arbor.db"), Log: o.Log, Throwaway: true}})
}

// quiet is a log that tells of problems only: a line for each request that a seed
// consists of would bury those of the people who come later.
func quiet(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(problems{log.Handler()})
}

// problems leaves out what is below a warning.
type problems struct{ slog.Handler }

func (p problems) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && p.Handler.Enabled(ctx, level)
}

// clock is the database's while a seed is applied.
type clock struct{ micros atomic.Int64 }

func (c *clock) set(t time.Time) { c.micros.Store(t.UnixMicro()) }

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// applier applies one seed.
type applier struct {
	s        *Seed
	clock    *clock
	server   *server.Server
	repos    *repo.Service
	accounts *account.Service
	callers  map[string]*account.Caller // by the folded login
	made     map[*Repo]bool
	events   []event
}

// event is one request at its time.
type event struct {
	at time.Time
	p  *place // who is to blame
	do func(ctx context.Context) error
}

func (a *applier) apply(ctx context.Context) error {
	for i := range a.s.Users {
		if err := a.user(ctx, &a.s.Users[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Orgs {
		if err := a.org(ctx, &a.s.Orgs[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Repos {
		if err := a.repo(ctx, &a.s.Repos[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Repos {
		a.tracker(&a.s.Repos[i])
	}
	if err := a.happen(ctx); err != nil {
		return err
	}
	for i := range a.s.Repos {
		if err := a.finish(ctx, &a.s.Repos[i]); err != nil {
			return err
		}
	}
	a.clock.set(a.s.Start)
	for i := range a.s.Plants {
		p := &a.s.Plants[i]
		body := struct {
			ID   int64   `json:"id"`
			Name string  `json:"name"`
			Tag  *string `json:"tag,omitempty"`
		}{*p.ID, p.Name, p.Tag}
		if err := a.s.told(&p.place, a.send(ctx, p.Owner, "POST", "/plants", body, nil)); err != nil {
			return err
		}
	}
	return a.server.Settle(ctx)
}

// happen sends what trackers consist of, all repositories' in the order of time:
// so ids grow with time, as they do in a store that people filled.
func (a *applier) happen(ctx context.Context) error {
	slices.SortStableFunc(a.events, func(x, y event) int { return x.at.Compare(y.at) })
	for _, e := range a.events {
		a.clock.set(e.at)
		if err := a.s.told(e.p, e.do(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// fields are those of a request's body that have a value.
type fields map[string]any

func (f fields) text(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

func (f fields) texts(name string, values []string) fields {
	if len(values) > 0 {
		f[name] = values
	}
	return f
}

func (p *Profile) fields() fields {
	return fields{}.text("name", p.Name).text("email", p.Email).text("company", p.Company).text("blog", p.Blog).text("location", p.Location)
}

func (a *applier) user(ctx context.Context, u *User) error {
	a.clock.set(u.CreatedAt)
	made, err := a.accounts.CreateUser(ctx, account.NewUser{Login: u.Login, Admin: u.Admin})
	if err != nil {
		return a.s.told(&u.place, err)
	}
	a.callers[account.Fold(u.Login)] = &account.Caller{ID: made.ID, Login: made.Login, SiteAdmin: made.SiteAdmin}
	if body := u.fields().text("bio", u.Bio); len(body) > 0 {
		if err := a.send(ctx, u.Login, "PATCH", "/user", body, nil); err != nil {
			return a.s.told(&u.place, err)
		}
	}
	for i := range u.Tokens {
		t := &u.Tokens[i]
		n := account.NewToken{Login: u.Login, Value: t.Value, Note: t.Note}
		if !t.ExpiresAt.IsZero() {
			n.Expires = t.ExpiresAt.Sub(u.CreatedAt)
		}
		if _, _, err := a.accounts.CreateToken(ctx, n); err != nil {
			return a.s.told(&t.place, err)
		}
	}
	return nil
}

func (a *applier) org(ctx context.Context, o *Org) error {
	a.clock.set(o.CreatedAt)
	admin := o.Owners[0]
	if _, err := a.accounts.CreateOrg(ctx, o.Login, admin); err != nil {
		return a.s.told(&o.place, err)
	}
	body := o.fields().text("description", o.Description).text("default_repository_permission", o.Permission)
	if len(body) > 0 {
		if err := a.send(ctx, admin, "PATCH", web.Path("orgs", o.Login), body, nil); err != nil {
			return a.s.told(&o.place, err)
		}
	}
	for _, login := range o.Owners[1:] {
		err := a.send(ctx, admin, "PUT", web.Path("orgs", o.Login, "memberships", login), fields{"role": "admin"}, nil)
		if err != nil {
			return a.s.told(&o.place, err)
		}
	}
	for i := range o.Members {
		m := &o.Members[i]
		err := a.send(ctx, admin, "PUT", web.Path("orgs", o.Login, "memberships", m.Login), fields{"role": "member"}, nil)
		if err == nil && m.Public {
			err = a.send(ctx, m.Login, "PUT", web.Path("orgs", o.Login, "public_members", m.Login), nil, nil)
		}
		if err != nil {
			return a.s.told(&m.place, err)
		}
	}
	return nil
}

// Tokens are the values of a user's tokens, in their order; nil for a user whom
// the seed does not have.
func (s *Seed) Tokens(login string) []string {
	for _, u := range s.Users {
		if account.Fold(u.Login) == account.Fold(login) {
			list := make([]string, len(u.Tokens))
			for i, t := range u.Tokens {
				list[i] = t.Value
			}
			return list
		}
	}
	return nil
}

// isRefusal reports whether the interface refused a request with a status.
func isRefusal(err error, status int) bool {
	var said *refusal
	return errors.As(err, &said) && said.Status == status
}

// errNo is a refusal that the interface does not pronounce itself.
func errNo(format string, args ...any) error {
	return errs.New(errs.Invalid, strings.TrimSpace(fmt.Sprintf(format, args...)))
}
