package account

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

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

func digestOf(token string) digest {
	var buf [maxToken]byte
	return sha256.Sum256(buf[:copy(buf[:], token)])
}

// badCredentials is the only answer to invalid credentials of any kind
// (decision 11), so that a revoked token cannot be distinguished from an unknown one.
func badCredentials() error { return errs.New(errs.Unauthenticated, "Bad credentials") }

// errSuspended is GitHub's error for requests with a suspended account's token.
func errSuspended() error { return errs.New(errs.Forbidden, "Sorry. Your account was suspended.") }

// Authenticate returns the caller of a request from any form of credentials (decision 10). given is false
// and caller nil if there are none. Errors: 401 for malformed, wrong, revoked or expired credentials; 403
// for those of a suspended account.
func (s *Service) Authenticate(r *http.Request) (caller *Caller, given bool, err error) {
	return s.authenticate(r, false)
}

// AuthenticateBearer is Authenticate for the plant store, which takes bearer
// tokens only (decision 10): any other form is a 401.
func (s *Service) AuthenticateBearer(r *http.Request) (caller *Caller, given bool, err error) {
	return s.authenticate(r, true)
}

func (s *Service) authenticate(r *http.Request, bearerOnly bool) (*Caller, bool, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return nil, false, nil
	}
	text, ok := parseCredentials(values, bearerOnly)
	if !ok {
		return nil, true, badCredentials()
	}
	token, err := s.findToken(r.Context(), digestOf(text))
	if err != nil {
		return nil, true, err
	}
	now := s.now()
	if token.expires != 0 && now >= token.expires {
		return nil, true, badCredentials()
	}
	s.uses.note(token.caller.TokenID, now)
	return token.caller, true, nil
}

func (s *Service) now() db.Time { return db.FromTime(s.clock()) }

// findToken finds a token that is not revoked, in the cache or in the database. Only
// tokens that exist are kept, so wrong ones fill no memory.
func (s *Service) findToken(ctx context.Context, d digest) (cachedToken, error) {
	generation, err := s.db.Generation(ctx, Topic)
	if err != nil {
		return cachedToken{}, err
	}
	k, err := s.tokens.Read(cache.Generations(generation), d, func() (k cachedToken, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
			k.caller, k.expires, err = tokenByDigest(tx, d)
			return err
		})
		return k, err
	})
	if errs.Is(err, errs.NotFound) {
		return cachedToken{}, badCredentials()
	}
	return k, err
}

// cachedToken is a token that is not revoked.
type cachedToken struct {
	caller  *Caller
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

// Run stores the last uses of tokens and keys in batches until ctx is done, and then the rest. It returns
// nil: errors are only logged.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(ctx)
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
