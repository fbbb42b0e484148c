package hook

import (
	"context"
	"math"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Ping sends a ping to the hook's receiver, even if the hook is not active. Errors: 404, 409 if
// too many deliveries wait.
func (s *Service) Ping(ctx context.Context, o Owner, id int64) error {
	_, err := s.onHeld(ctx, o, id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		if err := note(tx, entry, audit.HookPing, h); err != nil {
			return err
		}
		return addOne(tx, h, Event{Name: Ping, Actor: account.IDOf(o.caller)})
	})
	return err
}

// Test sends the newest commit of the default branch as if it had just been pushed, if the hook subscribes to
// pushes and the branch has a commit. Errors: 404, 409 if many deliveries wait.
func (s *Service) Test(ctx context.Context, a *repo.Access, id int64) error {
	ref := "refs/heads/" + a.DefaultBranch
	tip, err := s.repos.Ref(ctx, a, ref)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	_, err = s.onHeld(ctx, OfRepository(a), id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		if err := note(tx, entry, audit.HookTest, h); err != nil {
			return err
		}
		if tip == "" || !h.wants("push") {
			return nil
		}
		about := About{Ref: ref, After: string(tip)}
		return addOne(tx, h, Event{Name: "push", Actor: account.IDOf(a.Caller), About: about})
	})
	return err
}

// Choice is which deliveries a list shows.
type Choice struct {
	Before  int64  // the id of the delivery before; see ParseCursor
	Outcome string // success, failure; empty: both
	Size    int64
}

// ParseCursor reads the cursor of a page of deliveries: the last delivery of the page before, or nothing. Error: 422.
func ParseCursor(text string) (before int64, err error) {
	if text == "" {
		return math.MaxInt64, nil
	}
	before, ok := web.ParseNumber(text)
	if !ok {
		return 0, errs.Validation(errs.Field{Resource: Resource, Field: "cursor", Code: errs.InvalidField,
			Message: "cursor must be one of the Link header"})
	}
	return before, nil
}

// Deliveries reads what was delivered, or tried to be, the newest first, without what was sent; more tells that older
// ones follow. Error: 404.
func (s *Service) Deliveries(
	ctx context.Context, o Owner, id int64, c Choice,
) (h *Hook, found []*Delivery, more bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if h, err = byID(tx, o.ownerKey, id); err != nil {
			return err
		}
		found, err = tried(tx, id, c.Before, c.Outcome, c.Size+1)
		return err
	})
	if more = int64(len(found)) > c.Size; more {
		found = found[:c.Size]
	}
	return h, found, more, err
}

// Delivery reads a delivery with what was sent and the beginning of what came back. An App that does not reach the
// repository any more is not shown what was sent: it may not have arrived. Error: 404.
func (s *Service) Delivery(ctx context.Context, o Owner, id, of int64) (h *Hook, d *Delivery, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if h, d, err = findDelivery(tx, o, id, of); err != nil || h.AppID == 0 || d.RepoID == 0 {
			return err
		}
		shown, err := stillReached(tx, d)
		if !shown {
			d.Payload = nil
		}
		return err
	})
	return h, d, err
}

// findDelivery reads a delivery of a hook. Error: 404.
func findDelivery(tx *db.Tx, o Owner, id, of int64) (*Hook, *Delivery, error) {
	h, err := byID(tx, o.ownerKey, id)
	if err != nil {
		return nil, nil, err
	}
	d, err := deliveryByID(tx, id, of)
	return h, d, err
}

// Redeliver sends a delivery once more, with the same body and GUID, to where the hook leads now. Errors:
// 404, 409 if too many deliveries wait.
func (s *Service) Redeliver(ctx context.Context, o Owner, id, of int64) error {
	return s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		h, d, err := findDelivery(tx, o, id, of)
		if err != nil {
			return err
		}
		if err := note(tx, entry, audit.HookRedeliver, h); err != nil {
			return err
		}
		return again(tx, d)
	})
}

// GUID is the id by which the receiver knows the delivery, and its redeliveries.
func (h *Hook) GUID(d *Delivery) string { return h.guid(d.first()) }

// Seconds is how long the attempt took, to the millisecond.
func (d *Delivery) Seconds() float64 { return float64(d.Duration/1000) / 1000 }

// Answer is the beginning of the body that came back.
func (d *Delivery) Answer() string {
	return strings.ToValidUTF8(strings.ReplaceAll(string(d.Body), "\x00", "\uFFFD"), "\uFFFD")
}
