package token

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// maxCachedTokens bounds the cache of tokens in use, and how many last uses
// wait to be stored.
const maxCachedTokens = 16384

// flushEvery is how long a last use waits before it is stored, at most.
const flushEvery = 30 * time.Second

// flushBatch is how many last uses one transaction stores, so that the writer
// is not held for long.
const flushBatch = 500

// digest is the SHA-256 of a token, the only form in which it is stored.
type digest = [sha256.Size]byte

// Digest is the form in which tokens and sessions are stored.
func Digest(token string) [sha256.Size]byte {
	var buf [maxToken]byte
	return sha256.Sum256(buf[:copy(buf[:], token)])
}

// Service authenticates requests, and creates and revokes tokens. Safe for concurrent use.
type Service struct {
	db     *db.DB
	log    *slog.Logger
	clock  func() time.Time                      // when a token is used; tests in this package set it
	tokens *cache.Cache[digest, cachedToken]     // in use
	keys   *cache.Cache[string, *account.Caller] // by the fingerprints of keys in use
	uses   lastUses

	// keyUses are those of keys, at most one an hour.
	keyUses lastUses
}

// New returns the service. Start Run next to it to have last uses of tokens stored.
func New(d *db.DB, log *slog.Logger) *Service {
	return &Service{db: d, log: log, clock: time.Now, keyUses: lastUses{every: keyUseEvery},
		keys:   cache.NewCount[string, *account.Caller](maxCachedTokens),
		tokens: cache.NewCount[digest, cachedToken](maxCachedTokens)}
}

// Caches returns the statistics of the caches.
func (s *Service) Caches() []cache.Stats { return []cache.Stats{s.tokens.Stats("tokens")} }

// Authenticate returns the caller of a request from any form of credentials (decision 10). given is false
// and caller nil if there are none. Errors: 401 for malformed, wrong, revoked or expired credentials; 403
// for those of a suspended account.
func (s *Service) Authenticate(r *http.Request) (caller *account.Caller, given bool, err error) {
	return s.authenticate(r, false)
}

// AuthenticateBearer is Authenticate for the plant store, which takes bearer
// tokens only (decision 10): any other form is a 401.
func (s *Service) AuthenticateBearer(r *http.Request) (caller *account.Caller, given bool, err error) {
	return s.authenticate(r, true)
}

func (s *Service) authenticate(r *http.Request, bearerOnly bool) (*account.Caller, bool, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return nil, false, nil
	}
	text, ok := parseCredentials(values, bearerOnly)
	if !ok {
		return nil, true, account.BadCredentials()
	}
	token, err := s.findToken(r.Context(), Digest(text))
	if err != nil {
		return nil, true, err
	}
	now := s.now()
	if token.expires != 0 && now >= token.expires {
		return nil, true, account.BadCredentials()
	}
	s.uses.note(token.caller.TokenID, now)
	return token.caller, true, nil
}

// Find finds a token or a session that is not revoked, and its expiry (zero: never). Errors: 401 for one that is
// unknown, 403 for one of a suspended account.
func (s *Service) Find(ctx context.Context, text string) (*account.Caller, db.Time, error) {
	token, err := s.findToken(ctx, Digest(text))
	return token.caller, token.expires, err
}

// NoteUse notes that the caller's token was used.
func (s *Service) NoteUse(c *account.Caller, at db.Time) { s.uses.note(c.TokenID, at) }

func (s *Service) now() db.Time { return db.FromTime(s.clock()) }

// findToken finds a token that is not revoked, in the cache or in the database. Only
// tokens that exist are kept, so wrong ones fill no memory.
func (s *Service) findToken(ctx context.Context, d digest) (cachedToken, error) {
	generation, err := s.db.Generation(ctx, account.Topic)
	if err != nil {
		return cachedToken{}, err
	}
	k, err := s.tokens.Read(cache.Generations(generation), d, func() (k cachedToken, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
			k.caller, k.expires, err = account.CallerOfToken(tx, d)
			return err
		})
		return k, err
	})
	if errs.Is(err, errs.NotFound) {
		return cachedToken{}, account.BadCredentials()
	}
	return k, err
}

// CallerOfKey finds the user who signs in with a key. A user's key may do with git all that an ordinary user may:
// nobody administers the site by it, since it has no scopes. A deploy key reaches its repository
// alone, and acts as who added it. Errors: 401 for a key that nobody has, 403 when the account is
// suspended.
func (s *Service) CallerOfKey(ctx context.Context, fingerprint string) (*account.Caller, error) {
	generation, err := s.db.Generation(ctx, account.Topic)
	if err != nil {
		return nil, err
	}
	c, err := s.keys.Read(cache.Generations(generation), fingerprint, func() (c *account.Caller, err error) {
		return db.Get(ctx, s.db, func(tx *db.Tx) (*account.Caller, error) {
			return account.CallerOfKey(tx, fingerprint)
		})
	})
	if errs.Is(err, errs.NotFound) {
		return nil, account.BadCredentials()
	}
	return c, err
}

// NoteKeyUse records a use of the key.
func (s *Service) NoteKeyUse(c *account.Caller) { s.keyUses.note(c.KeyID, s.now()) }

// cachedToken is a token that is not revoked.
type cachedToken struct {
	caller  *account.Caller
	expires db.Time // zero: never
}

// lastUses gathers when tokens were used until Run stores it. A token that
// finds it full is noted after the next flush.
type lastUses struct {
	every time.Duration // between two uses that are stored; zero: each counts

	mu      sync.Mutex
	pending map[int64]db.Time
	noted   map[int64]db.Time // with every: the last that was noted
}

// keyUseEvery is how exact the last use of a key is.
const keyUseEvery = time.Hour

func (u *lastUses) note(tokenID int64, at db.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.every > 0 {
		last, known := u.noted[tokenID]
		if known && at < last+db.Time(u.every.Microseconds()) {
			return
		}
		if u.noted == nil || len(u.noted) >= maxCachedTokens {
			u.noted = map[int64]db.Time{}
		}
		u.noted[tokenID] = at
	}
	if u.pending == nil {
		u.pending = map[int64]db.Time{}
	}
	if _, there := u.pending[tokenID]; there || len(u.pending) < maxCachedTokens {
		u.pending[tokenID] = at
	}
}

// take returns a batch of what was noted, and forgets it.
func (u *lastUses) take() map[int64]db.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.pending) <= flushBatch {
		batch := u.pending
		u.pending = nil
		return batch
	}
	batch := make(map[int64]db.Time, flushBatch)
	for id, at := range u.pending {
		batch[id] = at
		delete(u.pending, id)
		if len(batch) == flushBatch {
			break
		}
	}
	return batch
}

// Run stores the last uses of tokens and keys in batches until ctx is done, and then the rest, and puts rules of
// second factors into force when it is time. It returns nil: errors are only logged.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(ctx)
			if err := account.BeginFactorRules(ctx, s.db); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "rules of second factors did not begin", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			s.flush(last)
			return nil
		}
	}
}

// flush stores the last uses that were noted before it began.
func (s *Service) flush(ctx context.Context) {
	s.flushUses(ctx, &s.uses, "tokens")
	s.flushUses(ctx, &s.keyUses, "ssh_keys")
}

func (s *Service) flushUses(ctx context.Context, uses *lastUses, table string) {
	for range maxCachedTokens/flushBatch + 1 {
		batch := uses.take()
		if len(batch) == 0 {
			return
		}
		err := s.db.Write(ctx, func(tx *db.Tx) error { return storeLastUses(tx, table, batch) })
		if err != nil {
			s.log.WarnContext(ctx, "last uses were not stored", "table", table, "rows", len(batch),
				"error", err)
			return
		}
	}
}
