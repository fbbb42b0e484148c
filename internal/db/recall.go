package db

import (
	"context"
	"sync"

	"arbor/internal/cache"
)

// recollection is what the transactions of one request have read, as of one state of the database.
type recollection struct {
	mu    sync.Mutex
	state cache.State
	kept  *keptValues
}

type keptValues struct {
	mu sync.Mutex
	by map[any]any
}

type recollectionKey struct{}

// maxRecalled bounds how many values a request keeps.
const maxRecalled = 4096

// WithRecall returns a context for one request that only reads, and asks for the same things in several
// transactions, as pages do. Under it [Recall] finds in a later transaction what an earlier one has kept
// ([Keep]), as long as the state of the database ([DB.State]) is the same before both began: a value is as
// new as the transaction that uses it.
func WithRecall(ctx context.Context) context.Context {
	return context.WithValue(ctx, recollectionKey{}, new(recollection))
}

// recollect gives what the request of ctx keeps in the present state, which is asked for before the
// transaction begins; nil: nothing is kept.
func (d *DB) recollect(ctx context.Context) *keptValues {
	r, _ := ctx.Value(recollectionKey{}).(*recollection)
	if r == nil {
		return nil
	}
	state := d.State(ctx)
	if state == cache.Unknown {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || r.state != state {
		r.state, r.kept = state, &keptValues{by: map[any]any{}}
	}
	return r.kept
}

// Recall gives what an earlier transaction of the request has kept under a key, if it is still so. Keys are
// of types of the packages that keep them. Who gets a value shares it, so nobody may change it. A Write
// recalls nothing.
func Recall[V any](tx *Tx, key any) (v V, ok bool) {
	k := tx.kept
	if k == nil {
		return v, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok = k.by[key].(V)
	return v, ok
}

// Keep keeps what the transaction has read under a key, for later ones of the request.
func Keep(tx *Tx, key, v any) {
	k := tx.kept
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.by) < maxRecalled {
		k.by[key] = v
	}
}

// rowKey is the key of a row that is read by its id.
type rowKey[ID comparable, V any] struct{ id ID }

// KeepRow keeps a row for RecallRows.
func KeepRow[ID comparable, V any](tx *Tx, id ID, row V) { Keep(tx, rowKey[ID, V]{id}, row) }

// RecallRows gives the rows of ids: copies of those that the request has kept, and of the others those that
// read gives, which are kept for later transactions. An id without a row is missing from the map.
func RecallRows[ID comparable, V any](
	tx *Tx, ids []ID, idOf func(*V) ID, read func(rest []ID) ([]*V, error),
) (map[ID]*V, error) {
	found := make(map[ID]*V, len(ids))
	var rest []ID
	for _, id := range ids {
		if v, ok := Recall[V](tx, rowKey[ID, V]{id}); ok {
			found[id] = &v
		} else {
			rest = append(rest, id)
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	list, err := read(rest)
	for _, v := range list {
		found[idOf(v)] = v
		KeepRow(tx, idOf(v), *v)
	}
	return found, err
}

// Recalls reports that what the transaction reads may be kept for later ones of its request. Then one
// statement may well read what these will ask for besides.
func Recalls(tx *Tx) bool { return tx.kept != nil }

// RecallMany gives the values of keys: those that the request has kept, and of the other keys those that read
// gives, which are kept for later transactions. name makes of a key what [Recall] and [Keep] know its value
// by. A key without a value is missing from the map; that it has none is kept, too.
func RecallMany[K, V comparable](
	tx *Tx, keys []K, name func(K) any, read func([]K) (map[K]V, error),
) (map[K]V, error) {
	var none V
	values := make(map[K]V, len(keys))
	var asked []K
	for _, k := range keys {
		v, known := Recall[V](tx, name(k))
		switch {
		case !known:
			asked = append(asked, k)
		case v != none:
			values[k] = v
		}
	}
	if len(asked) == 0 {
		return values, nil
	}
	found, err := read(asked)
	if err != nil {
		return nil, err
	}
	for _, k := range asked {
		v, is := found[k]
		if is {
			values[k] = v
		}
		Keep(tx, name(k), v)
	}
	return values, nil
}

// recalling lets a read's transaction recall what its request has kept. In tests the first run of two does
// not.
func (d *DB) recalling(ctx context.Context, fn func(*Tx) error) func(*Tx) error {
	kept := d.recollect(ctx)
	if kept == nil {
		return fn
	}
	return func(tx *Tx) error {
		tx.kept = kept
		return fn(tx)
	}
}
