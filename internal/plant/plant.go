// Package plant is the plant store, whole: a list of named things, each under
// a number that its owner chose.
//
//   - GET /plants: the plants of the caller, in the order of their ids; all
//     plants for site administrators. limit caps their number. A list of any
//     length is streamed: the store is read in chunks, each in a snapshot of
//     its own, so a plant that is added or deleted during the list is in it or
//     not, and none is there twice or in part.
//   - POST /plants: adds a plant. Ids are unique in the whole store.
//   - DELETE /plants/{id}: removes one plant of the caller's; any, for site
//     administrators.
//
// The page of plants shows the ids, which no answer of the store has.
//
// Table: plants (id, owner_id, name, tag). A plant never changes, and id and
// owner never appear in an answer. What the store decides where its document
// is silent is in decisions 46 to 48; errors.go numbers every way to fail.
//
// It needs package account for the caller and nothing else of the product.
package plant

import (
	"context"
	"errors"
	"math"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Plant is one entry of the store.
type Plant struct {
	ID   int64 // any, also negative; unique in the store
	Name string
	Tag  *string // nil: none was given
}

// Service is the plant store behind its HTTP interface. It is safe for
// concurrent use.
type Service struct {
	db *db.DB
}

// New returns the plant store of a database.
func New(d *db.DB) *Service { return &Service{db: d} }

// chunkRows and chunkBytes end a chunk of a list: the first keeps readers
// short, the second bounds the memory of a list of long names.
const (
	chunkRows  = 1000
	chunkBytes = 256 << 10
)

// Create adds a plant to the caller's. Errors: Malformed when the id is taken
// (decision 47), Unauthenticated when the account is gone.
func (s *Service) Create(ctx context.Context, c *account.Caller, p *Plant) error {
	added, err := insert(ctx, s.db, c, p)
	switch {
	case errors.Is(err, db.ErrForeignKey):
		return errs.Wrap(errs.Unauthenticated, "Bad credentials", err)
	case err != nil:
		return err
	case !added:
		if err := s.db.Read(ctx, c.Holds); err != nil {
			return err
		}
		return refuse(takenID, "a plant with this id exists already")
	}
	return nil
}

// Delete removes the plant with the given id, when it is the caller's or the
// caller is a site administrator. Errors: Malformed, the same whether there is
// no such plant or it is another's (decision 47).
func (s *Service) Delete(ctx context.Context, c *account.Caller, id int64) error {
	var gone bool
	err := s.db.WriteAs(ctx, c, func(tx *db.Tx) (err error) {
		gone, err = remove(tx, id, c.ID, c.SiteAdmin)
		return err
	})
	if err != nil {
		return err
	}
	if !gone {
		return refuse(noPlant, "you have no plant with this id")
	}
	return nil
}

// Cursor is a place in the list of the plants that a caller may access.
type Cursor struct {
	all   bool       // everyone's plants
	owner account.ID // else whose
	from  int64      // the smallest id that is still to come
	left  int64      // how many plants may still come
}

// NoLimit asks for a list of all plants.
const NoLimit = math.MaxInt64

// List begins the list of at most limit plants that the caller may access.
func List(c *account.Caller, limit int64) *Cursor {
	return &Cursor{all: c.SiteAdmin, owner: c.ID, from: math.MinInt64, left: limit}
}

// Next reads the next chunk of a list, in one snapshot: it renders each plant
// to the end of buf, until the chunk has its rows or buf its bytes, and returns
// the longer buf. more is false when the list has ended.
func (s *Service) Next(ctx context.Context, c *Cursor, buf []byte, render func([]byte, *Plant) []byte) (
	out []byte, more bool, err error) {
	want := min(c.left, chunkRows)
	if want <= 0 {
		return buf, false, nil
	}
	var seen int64
	r := newRow()
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		out, seen = buf, 0 // reads may run again
		rows, err := query(tx, c, want)
		if err != nil {
			return err
		}
		defer rows.Close()
		for len(out) < chunkBytes && rows.Next() {
			if err := r.scan(rows); err != nil {
				return err
			}
			seen++
			out = render(out, &r.plant)
		}
		return rows.Err()
	})
	if err != nil {
		return buf, false, err
	}
	ended := seen < want && len(out) < chunkBytes
	if ended || seen == c.left || r.plant.ID == math.MaxInt64 {
		return out, false, nil
	}
	c.left -= seen
	c.from = r.plant.ID + 1
	return out, true, nil
}

// Page returns at most size of the plants that the caller may access, by id, those behind an id; fewer where
// names are long.
func (s *Service) Page(
	ctx context.Context, caller *account.Caller, behind web.Opt[int64], size int64,
) (*web.List[Plant], error) {
	from, found := List(caller, size+1), &web.List[Plant]{}
	if behind.Given() {
		if behind.Value == math.MaxInt64 {
			return found, nil
		}
		from.from = behind.Value + 1
	}
	var list []Plant
	_, more, err := s.Next(ctx, from, nil, func(b []byte, p *Plant) []byte {
		if len(b) == 0 { // the read may run again
			list = nil
		}
		one := *p
		if p.Tag != nil {
			one.Tag = new(*p.Tag)
		}
		list = append(list, one)
		return appendItem(b, p) // its bytes bound the page
	})
	found.Rows = list[:min(int64(len(list)), size)]
	found.More = more || int64(len(list)) > size
	return found, err
}
