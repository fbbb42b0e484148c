package hook

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook/outgoing"
	"arbor/internal/web"
)

// Renderer renders the payloads of deliveries.
type Renderer interface {
	// Tell renders what payloads need of the database in the transaction of their event.
	Tell(tx *db.Tx, list []*Telling) error
	// Render returns the payload of a delivery, from what Tell rendered or else from the current state.
	// Error: 404 if the event's subject was deleted or must not be shown.
	Render(ctx context.Context, h *Hook, d *Delivery) ([]byte, error)
	// Check finds out whether a delivery that was rendered before may still be sent. Error: 404 when not.
	Check(tx *db.Tx, h *Hook, d *Delivery) error
}

// How deliveries share the server. A turn of a hook holds a slot for as long as its receiver takes.
const (
	slots       = 64
	perOwner    = 4 // slots of all hooks of an owner's repositories together
	perReceiver = 8 // slots of all hooks that go to one host
	// hooks whose last attempt failed hold at most one of so many slots, of an owner's and of all
	slowShare  = 2
	renderers  = 4 // payloads that are rendered at one time
	largeSlots = 4 // payloads of more than large bytes that are sent at one time
	large      = 256 << 10
	maxPayload = 25 << 20 // bytes, as at GitHub
	leaseTime  = 30 * time.Second
	turnTime   = 5 * time.Second // after which others have their turn
	renderTime = 10 * time.Second
	gather     = 5 * time.Millisecond // in which commits wake it once
	// interval of looking for events of other processes and for retries
	pollTime = time.Second
	maxPages = 20 // of hooks that are looked at in one go
)

// Sender sends deliveries: those of all hooks, in turns. Several may work on one database.
type Sender struct {
	db     *db.DB
	log    *slog.Logger
	render Renderer
	client *outgoing.Client
	base   string // replaces the sites of hooks; empty: it does not
	lease  time.Duration

	rendering, sendingLarge chan struct{}

	mu        sync.Mutex
	running   map[int64]bool // hooks
	owners    map[account.ID]int
	failing   map[account.ID]int // of these, hooks whose last attempt failed
	allFailed int                // of all owners
	receivers map[string]int

	cursor int64 // the hook that was looked at last
}

// SenderOptions configures a sender.
type SenderOptions struct {
	DB       *db.DB
	Log      *slog.Logger
	Render   Renderer
	Networks outgoing.Networks // inner ones to which it may send
	BaseURL  string            // of addresses in payloads; empty: as the hook's maker reached the server
}

// NewSender returns a sender.
func NewSender(o SenderOptions) *Sender {
	return &Sender{db: o.DB, log: o.Log, render: o.Render, client: outgoing.New(o.Networks), base: o.BaseURL,
		lease:     leaseTime,
		rendering: make(chan struct{}, renderers), sendingLarge: make(chan struct{}, largeSlots),
		running: map[int64]bool{}, owners: map[account.ID]int{},
		failing:   map[account.ID]int{},
		receivers: map[string]int{}}
}

// Run sends due deliveries until ctx is done, and then waits for the turns in progress. It returns nil:
// errors are logged and retried.
func (s *Sender) Run(ctx context.Context) error {
	var turns sync.WaitGroup
	defer turns.Wait()
	db.RunOnBell(ctx, s.db.Bell(Topic), pollTime, func(ctx context.Context) {
		time.Sleep(gather)
		if err := s.look(ctx, &turns); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "looking for deliveries of hooks failed", "error", err)
		}
	})
	return nil
}

// look starts turns of webhooks with due deliveries, after the one examined last, so that each gets a turn.
func (s *Sender) look(ctx context.Context, turns *sync.WaitGroup) error {
	begin := s.cursor
	for range maxPages {
		var page []candidate
		var last int64
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			page, last, err = candidates(tx, s.cursor)
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range page {
			if !s.begin(ctx, c, turns) {
				return nil // the end of a turn wakes
			}
			s.cursor = c.id
		}
		if s.cursor = last; last != 0 {
			continue
		}
		if begin == 0 {
			return nil
		}
		begin = 0 // once more, from the first hook on
	}
	return nil
}

// begin begins the turn of a hook, unless it or too much of its owner's or receiver's is under way. It
// reports whether there was a slot.
func (s *Sender) begin(ctx context.Context, c candidate, turns *sync.WaitGroup) bool {
	host := hostOf(c.url)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.running) >= slots:
		return false
	case s.running[c.id] || s.owners[c.owner] >= perOwner || s.receivers[host] >= perReceiver:
		return true
	case c.failing && (s.failing[c.owner] >= perOwner/slowShare || s.allFailed >= slots/slowShare):
		return true // it may well wait for a receiver that hangs: others have their place
	}
	if c.failing {
		s.failing[c.owner]++
		s.allFailed++
	}
	s.running[c.id] = true
	s.owners[c.owner]++
	s.receivers[host]++
	turns.Go(func() {
		defer s.end(c, host)
		s.turn(ctx, c.id)
	})
	return true
}

func (s *Sender) end(c candidate, host string) {
	s.mu.Lock()
	delete(s.running, c.id)
	if c.failing {
		s.allFailed--
		if s.failing[c.owner]--; s.failing[c.owner] == 0 {
			delete(s.failing, c.owner)
		}
	}
	if s.owners[c.owner]--; s.owners[c.owner] == 0 {
		delete(s.owners, c.owner)
	}
	if s.receivers[host]--; s.receivers[host] == 0 {
		delete(s.receivers, host)
	}
	s.mu.Unlock()
	s.db.Ring(Topic)
}

// hostOf is the host of an address, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// InfoOf is what payloads for a hook are rendered with.
func (s *Sender) infoOf(h *Hook) *web.Info {
	if s.base == "" {
		return Info(h.Site, h.Prefix)
	}
	below, _ := strings.CutPrefix(h.Prefix, h.Site)
	if strings.Contains(below, "://") {
		below = ""
	}
	return Info(s.base, s.base+below)
}

// Backlog returns the numbers of the deliveries to be sent.
func (s *Sender) Backlog(tx *db.Tx) (db.Backlog, error) { return backlog(tx) }
