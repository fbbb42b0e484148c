package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// IDKey is the key under which a context holds the id of the request or job that work is done
// for. The handlers of this package write it into each line that is logged with the context.
type IDKey struct{}

type idContext struct {
	context.Context
	id string
}

func (c *idContext) Value(key any) any {
	if _, asked := key.(IDKey); asked {
		return c.id
	}
	return c.Context.Value(key)
}

// WithJob returns a context for one piece of work that no request waits for, with an id of its
// own behind the kind: packing-3f61c0a2.
func WithJob(ctx context.Context, kind string) context.Context {
	var random [4]byte
	rand.Read(random[:])
	return WithJobOf(ctx, kind, hex.EncodeToString(random[:]))
}

// WithJobOf is WithJob for work that a request left, whose id stands behind the kind; empty:
// it is not known.
func WithJobOf(ctx context.Context, kind, request string) context.Context {
	if request == "" {
		return WithJob(ctx, kind)
	}
	return &idContext{ctx, kind + "-" + request}
}

// ID is the id of the request or job that a context, or a transaction, belongs to; empty: of none.
func ID(of interface{ Value(key any) any }) string {
	id, _ := of.Value(IDKey{}).(string)
	return id
}
