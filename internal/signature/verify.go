package signature

import (
	"context"
	"crypto/sha256"
	"slices"

	"arbor/internal/account"
	"arbor/internal/account/signkey"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/git"
)

// Batch verifies some objects: Load in a transaction, then Results.
type Batch struct {
	s        *Service
	list     []Signed
	parsed   []*parsed // nil: there is nothing to verify
	reasons  []Reason  // of those without parsed
	own      *serverKey
	accounts map[string]*account.Account
	keys     signkey.Found
	claims   map[[2]string]bool
}

// NewBatch reads the signatures. Error: the server's key cannot be read.
func (s *Service) NewBatch(list []Signed) (*Batch, error) {
	b := &Batch{s: s, list: list, parsed: make([]*parsed, len(list)), reasons: make([]Reason, len(list))}
	for n := range list {
		if list[n].Signature == "" {
			b.reasons[n] = Unsigned
			continue
		}
		b.parsed[n], b.reasons[n] = parse(list[n].Signature)
		if b.own == nil {
			var err error
			if b.own, err = s.serverKey(); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// Load finds the keys, with at most three statements, and none where nothing is signed. accounts are those of the
// addresses, under account.Fold.
func (b *Batch) Load(tx *db.Tx, accounts map[string]*account.Account) (err error) {
	b.accounts = accounts
	var names []signkey.Name
	var emails, handles []string
	for n, p := range b.parsed {
		if p == nil || b.isOwn(p) {
			continue
		}
		email, name := account.Fold(b.list[n].Email), signkey.Name{Handle: p.handle}
		if a := accounts[email]; a != nil {
			name.Account = a.ID
		} else {
			emails, handles = append(emails, email), append(handles, p.handle)
		}
		names = append(names, name)
	}
	if b.keys, err = signkey.Find(tx, names); err != nil {
		return err
	}
	b.claims, err = signkey.Claims(tx, unique(emails), unique(handles))
	return err
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func (b *Batch) isOwn(p *parsed) bool { return p.kind == signkey.OpenPGP && p.handle == b.own.handle }

// Results returns a verification for each object. It computes, so it is called after the transaction.
func (b *Batch) Results() []Verification {
	out, now := make([]Verification, len(b.list)), db.FromTime(b.s.now())
	for n := range out {
		out[n] = b.verify(n, now)
	}
	return out
}

func (b *Batch) verify(n int, now db.Time) Verification {
	p, of := b.parsed[n], &b.list[n]
	if p == nil {
		return Verification{Reason: b.reasons[n]}
	}
	v := Verification{Kind: p.kind, Handle: p.handle}
	if b.isOwn(p) {
		v.Reason = Invalid
		if b.check(of, p, b.own.public) {
			v.Reason, v.ByServer, v.At = Valid, true, db.FromTime(of.At)
		}
		return v
	}
	email := account.Fold(of.Email)
	a := b.accounts[email]
	key, found := b.keys.Any[p.handle]
	if a != nil {
		if own, has := b.keys.Of[signkey.Name{Account: a.ID, Handle: p.handle}]; has {
			key, found, v.Signer = own, true, a
		}
	}
	switch {
	case !found:
		v.Reason = UnknownKey
	case !b.check(of, p, key.PublicKey):
		v.Reason = Invalid
	case a == nil && b.claims[[2]string{email, p.handle}]:
		v.Reason = UnverifiedEmail
	case a == nil:
		v.Reason = NoUser
	default:
		v.Reason = judge(&key, v.Signer != nil, email, now)
	}
	if v.Valid() {
		v.At = key.CreatedAt
		if at := db.FromTime(of.At); at > v.At && at <= now {
			v.At = at
		}
	}
	return v
}

// judge returns the reason for a correct signature of a key. owned says that the key is one of the account that has the
// address.
func judge(k *signkey.Key, owned bool, email string, now db.Time) Reason {
	switch {
	case !owned || k.Kind == signkey.OpenPGP && !slices.Contains(k.Emails, email):
		return BadEmail
	case k.Revoked || k.ExpiresAt != 0 && k.ExpiresAt <= now:
		return ExpiredKey
	case k.Can&signkey.Sign == 0:
		return NotSigningKey
	}
	return Valid
}

// check reports whether the signature is the key's. The result never changes, and is kept.
func (b *Batch) check(of *Signed, p *parsed, public string) bool {
	if of.Object == "" {
		return p.by(public, of.Payload)
	}
	key := checked{of.Object, sha256.Sum256([]byte(public))}
	made, known := b.s.checked.Get(cache.Forever, key)
	if !known {
		made = p.by(public, of.Payload)
		b.s.checked.Put(cache.Forever, key, made)
	}
	return made
}

// Verify verifies objects with one transaction.
func (s *Service) Verify(ctx context.Context, list []Signed) ([]Verification, error) {
	b, err := s.NewBatch(list)
	if err != nil {
		return nil, err
	}
	if b.own != nil { // something is signed
		err = s.db.Read(ctx, b.LoadIn)
	}
	return b.Results(), err
}

// LoadIn is Load for a transaction that has not read the accounts.
func (b *Batch) LoadIn(tx *db.Tx) error {
	var emails []string
	for n, p := range b.parsed {
		if p != nil {
			emails = append(emails, b.list[n].Email)
		}
	}
	accounts, err := account.ByEmails(tx, emails)
	if err != nil {
		return err
	}
	return b.Load(tx, accounts)
}

// maxTogether is how many commits FirstUnverified verifies with the same statements.
const maxTogether = 500

// FirstUnverified returns the first commit whose signature is not verified, or nil.
func (s *Service) FirstUnverified(ctx context.Context, commits []*git.Commit) (*git.Commit, error) {
	for part := range slices.Chunk(commits, maxTogether) {
		if n := slices.IndexFunc(part, func(c *git.Commit) bool { return c.Signed == "" }); n >= 0 {
			return part[n], nil
		}
		bad, err := s.Unverified(ctx, part)
		if err != nil {
			return nil, err
		}
		if n := slices.IndexFunc(part, func(c *git.Commit) bool { return bad[c.SHA] }); n >= 0 {
			return part[n], nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Unverified returns the commits whose signatures are not verified, with one transaction.
func (s *Service) Unverified(ctx context.Context, commits []*git.Commit) (map[git.SHA]bool, error) {
	bad := map[git.SHA]bool{}
	var signed []Signed
	for _, c := range commits {
		if bad[c.SHA] = c.Signed == ""; !bad[c.SHA] {
			signed = append(signed, OfCommit(c))
		}
	}
	if len(signed) == 0 {
		return bad, nil
	}
	results, err := s.Verify(ctx, signed)
	for n, v := range results {
		bad[signed[n].Object] = !v.Valid()
	}
	return bad, err
}

// Turn returns a number that changes when a key expires, for the state of answers that are kept. generation is that of
// the accounts, under which the moments at which keys expire are kept.
func (s *Service) Turn(ctx context.Context, generation int64) (int64, error) {
	now := db.FromTime(s.now())
	state := cache.Generations(generation)
	t, known := s.turns.Get(state, "")
	if known && now >= t.Last && (t.Next == 0 || now < t.Next) {
		return int64(t.Last), nil
	}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		t, err = signkey.TurnAt(tx, now)
		return err
	})
	if err == nil {
		s.turns.Put(state, "", t)
	}
	return int64(t.Last), err
}
