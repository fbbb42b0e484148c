package mail

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/journal"
)

const (
	senders    = 3               // connections at one time
	leaseTime  = 2 * time.Minute // longer than rendering and sending take
	renderTime = 30 * time.Second
	pollTime   = time.Second        // between looks for mails of other processes
	giveUp     = 3 * 24 * time.Hour // after that a mail which fails is dropped
	leastWait  = 10 * time.Second   // before the next try
	mostWait   = time.Hour          // before the next try
	mostRest   = time.Minute        // between looks for a server that cannot be reached
	pruneEvery = 10 * time.Minute   // old links and counts
	lookEvery  = time.Second        // for mails that go before notifications
)

// Renderer renders mails of one kind. Error: 404 if there is nothing to send any more.
type Renderer func(ctx context.Context, m *Mail) (*Message, error)

// Sender sends the mails that wait. Several may work on one database.
type Sender struct {
	db     *db.DB
	log    *slog.Logger
	config *Config // nil: no mail is sent

	// Renderers are set before Run.
	Renderers map[Kind]Renderer

	sent, failed, dropped, unreachable atomic.Int64
}

// NewSender returns a sender; without a config one that notes that no mail is sent.
func NewSender(d *db.DB, log *slog.Logger, config *Config) *Sender {
	return &Sender{db: d, log: log, config: config, Renderers: map[Kind]Renderer{}}
}

// On reports whether mail is sent.
func (s *Sender) On() bool { return s.config != nil }

// Config returns the settings; nil: no mail is sent.
func (s *Sender) Config() *Config { return s.config }

// Outcomes counts what became of tries since the start, by a word for each.
func (s *Sender) Outcomes() map[string]int64 {
	return map[string]int64{"sent": s.sent.Load(), "failed": s.failed.Load(), "dropped": s.dropped.Load(),
		"unreachable": s.unreachable.Load()}
}

// Backlog counts the mails that wait.
func (s *Sender) Backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `TRUE`) }

// Run sends until ctx is done. It returns nil: failures are logged and tried again.
func (s *Sender) Run(ctx context.Context) error {
	if err := s.note(ctx); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "it was not noted whether mail is sent", "error", err)
	}
	ctx = journal.WithJob(ctx, "mail")
	upkeep := func() {
		_ = db.Upkeep(ctx, s.log, pruneEvery, "old links and counts of mails were not removed", s.prune)
	}
	if s.config == nil { // others than mails are counted, too
		upkeep()
		return nil
	}
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			l := &line{Sender: s}
			defer l.hangUp()
			db.RunOnBell(ctx, s.db.Bell(Topic), pollTime, func(ctx context.Context) {
				for ctx.Err() == nil && l.turn(ctx) {
				}
				l.hangUp()
			})
		})
	}
	all.Go(upkeep)
	all.Wait()
	return nil
}

// note notes in the database whether mail is sent, so that others write mails or do not.
func (s *Sender) note(ctx context.Context) error {
	base, err := db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return site(tx) })
	switch {
	case err != nil:
		return err
	case s.config != nil && base != s.config.BaseURL:
		return s.db.Write(ctx, func(tx *db.Tx) error { return openSite(tx, s.config.BaseURL, true) })
	case s.config == nil && base != "":
		return s.db.Write(ctx, closeSite)
	}
	return nil
}

func (s *Sender) prune(ctx context.Context) error {
	return db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
			more, err = prune(tx)
			return err
		})
		return more, err
	})
}

// line is one of the connections, and what it waits for.
type line struct {
	*Sender
	open   *connection // nil: none
	rest   time.Duration
	looked time.Time // when it last looked for mails that go before notifications, see take
}

func (l *line) hangUp() {
	if l.open != nil {
		l.open.close()
		l.open = nil
	}
}

// turn sends the next mail. It reports whether there may be another one.
func (l *line) turn(ctx context.Context) bool {
	lease, m, err := l.next(ctx)
	if err != nil && ctx.Err() == nil {
		l.log.WarnContext(ctx, "looking for mails failed", "error", err)
	}
	if err != nil || lease == nil {
		return false
	}
	message, err := l.render(ctx, m)
	switch {
	case errs.Is(err, errs.NotFound):
		l.dropped.Add(1)
		return l.end(ctx, lease, nil)
	case err != nil:
		return l.fail(ctx, lease, m, err)
	}
	if l.open == nil {
		if l.open, err = l.config.dial(ctx); err != nil {
			return l.wait(ctx, lease, err)
		}
	}
	l.rest = 0
	built, err := message.build(l.config)
	if err != nil {
		return l.fail(ctx, lease, m, err)
	}
	broken, err := l.open.send(built)
	if broken {
		l.hangUp()
	}
	if err != nil {
		return l.fail(ctx, lease, m, err)
	}
	l.sent.Add(1)
	return l.end(ctx, lease, nil)
}

// next leases a mail. It sees to it that mail_sites has its row, which a reset takes.
func (l *line) next(ctx context.Context) (lease *db.Lease, m *Mail, err error) {
	var base string
	var due bool
	err = l.db.Read(ctx, func(tx *db.Tx) (err error) {
		if base, err = site(tx); err == nil {
			due, err = jobs.Due(tx, `TRUE`)
		}
		return err
	})
	if err == nil && base == "" {
		err = l.db.Write(ctx, func(tx *db.Tx) error { return openSite(tx, l.config.BaseURL, false) })
	}
	if err != nil || !due {
		return nil, nil, err
	}
	putOff := time.Since(l.looked) >= lookEvery
	if putOff {
		l.looked = time.Now()
	}
	err = l.db.Write(ctx, func(tx *db.Tx) (err error) {
		lease, m, err = take(tx, putOff)
		return err
	})
	return lease, m, err
}

func (l *line) render(ctx context.Context, m *Mail) (*Message, error) {
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	render := l.Renderers[m.Kind]
	if render == nil {
		return nil, errors.New("mail: nothing renders mails of kind " + strconv.Quote(string(m.Kind)))
	}
	message, err := render(ctx, m)
	if err == nil && message.ID == "" {
		message.ID = "mail." + strconv.FormatInt(m.ID, 10) + "." + strconv.FormatInt(int64(m.CreatedAt), 36)
	}
	return message, err
}

// wait puts a mail back whose server cannot be reached, and rests.
func (l *line) wait(ctx context.Context, lease *db.Lease, cause error) bool {
	l.unreachable.Add(1)
	if ctx.Err() == nil {
		l.log.WarnContext(ctx, "the mail server cannot be reached", "error", cause)
	}
	zero := time.Duration(0)
	l.end(ctx, lease, &zero)
	l.rest = min(max(2*l.rest, time.Second), mostRest)
	select {
	case <-ctx.Done():
	case <-time.After(l.rest):
	}
	return false
}

// fail puts off a mail that the server does not take, for longer the older it is; an old one is dropped.
func (l *line) fail(ctx context.Context, lease *db.Lease, m *Mail, cause error) bool {
	zero := time.Duration(0)
	if ctx.Err() != nil { // stopping: the next sender continues
		return l.end(ctx, lease, &zero)
	}
	age := time.Since(m.CreatedAt.Time())
	l.failed.Add(1)
	if age >= giveUp {
		l.dropped.Add(1)
		l.log.WarnContext(ctx, "a mail was given up", "mail", m.ID, "kind", string(m.Kind), "error", cause)
		return l.end(ctx, lease, nil)
	}
	l.log.WarnContext(ctx, "a mail was not sent, and is tried again", "mail", m.ID, "kind", string(m.Kind),
		"error", cause)
	later := min(max(age/4, leastWait), mostWait)
	return l.end(ctx, lease, &later)
}

// end removes a mail, or puts it off. It reports whether another one can be sent.
func (l *line) end(ctx context.Context, lease *db.Lease, later *time.Duration) bool {
	err := l.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if later == nil {
			return jobs.Remove(tx, lease)
		}
		return jobs.PutOff(tx, lease, *later)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) {
		l.log.WarnContext(ctx, "the row of a mail stays until its lease ends", "error", err)
		return false
	}
	return true
}
