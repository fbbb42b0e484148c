package hook

import (
	"context"
	"errors"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/web"
)

// turn sends the due deliveries of a webhook one after another until none is left, one fails, or others get
// their turn.
func (s *Sender) turn(ctx context.Context, id int64) {
	ctx = journal.WithJob(ctx, "hook")
	var l *db.Lease
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		l, err = take(tx, id, s.lease)
		return err
	})
	if err != nil || l == nil {
		s.warn(ctx, "a hook could not be leased", id, err)
		return
	}
	var wait time.Duration
	for end := time.Now().Add(turnTime); ctx.Err() == nil && wait == 0 && time.Now().Before(end); {
		var more bool
		if l, wait, more, err = s.deliverNext(ctx, l, id); err != nil || !more {
			break
		}
	}
	if errors.Is(err, db.ErrLeaseLost) || errs.Is(err, errs.NotFound) {
		return // another worker has it, or it was deleted
	}
	if err != nil {
		s.warn(ctx, "a hook's delivery failed", id, err)
		wait = max(wait, pollTime)
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return release(tx, l, wait) })
	s.warn(ctx, "a hook's lease could not be ended", id, err)
}

func (s *Sender) warn(ctx context.Context, what string, hook int64, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, what, "hook", hook, "error", err)
	}
}

// deliverNext sends the next due delivery. Then the webhook rests for wait. more is false if nothing was
// due.
func (s *Sender) deliverNext(
	ctx context.Context, l *db.Lease, id int64,
) (_ *db.Lease, wait time.Duration, more bool, err error) {
	var h *Hook
	var d *Delivery
	taken := time.Now() // the lease is at least as old
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		h, d, err = next(tx, id)
		return err
	})
	if err != nil || d == nil {
		return l, 0, false, err
	}
	leave, err := s.fill(ctx, h, d)
	if err != nil {
		return l, 0, true, s.unrendered(ctx, d, err)
	}
	defer leave()
	if l, err = s.keep(ctx, l, taken); err != nil {
		return l, 0, false, err
	}
	s.attempt(ctx, h, d)
	if ctx.Err() != nil {
		return l, 0, false, ctx.Err() // a stop: it is sent once more
	}
	var longer *db.Lease
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		before, of := *h, *d // the function may run again
		longer, wait, err = store(tx, l, s.lease, &before, &of)
		return err
	})
	if err != nil {
		longer = l
	}
	return longer, wait, true, err
}

// keep checks that a hook is still leased when something is sent, though it waited for others
// to be rendered and sent since the time given. Error: db.ErrLeaseLost.
func (s *Sender) keep(ctx context.Context, l *db.Lease, since time.Time) (*db.Lease, error) {
	if time.Since(since) < s.lease/4 {
		return l, nil
	}
	longer := l
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		longer, err = jobs.Extend(tx, l, s.lease)
		return err
	})
	if err != nil {
		longer = l
	}
	return longer, err
}

// fill sets a delivery's payload: as it was rendered, or from its stored source. Call leave when it was sent.
func (s *Sender) fill(ctx context.Context, h *Hook, d *Delivery) (leave func(), err error) {
	if leave, err = s.enterLarge(ctx, d.size); err != nil {
		return nil, err
	}
	if d.size > 0 {
		err = s.db.Read(ctx, func(tx *db.Tx) error {
			if err := readPayload(tx, d); err != nil {
				return err
			}
			return s.render.Check(tx, h, d)
		})
	}
	if err == nil && d.Payload == nil {
		leave()
		if d.Payload, err = s.rendered(ctx, h, d); err == nil {
			leave, err = s.enterLarge(ctx, int64(len(d.Payload)))
		}
	}
	if err != nil && leave != nil {
		leave()
	}
	return leave, err
}

// errBusy says that too many large payloads are being sent.
var errBusy = errors.New("hook: too many large payloads at one time")

// enterLarge waits for one of the places in which large payloads are sent. Error: errBusy.
func (s *Sender) enterLarge(ctx context.Context, size int64) (leave func(), err error) {
	if size <= large {
		return func() {}, nil
	}
	waiting := time.NewTimer(turnTime)
	defer waiting.Stop()
	select {
	case s.sendingLarge <- struct{}{}:
		return func() { <-s.sendingLarge }, nil
	case <-waiting.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rendered renders a delivery.
func (s *Sender) rendered(ctx context.Context, h *Hook, d *Delivery) ([]byte, error) {
	if d.broken != nil {
		// it would stand before all later ones for ever
		return nil, errs.Wrap(errs.NotFound, "Not Found", d.broken)
	}
	select {
	case s.rendering <- struct{}{}:
		defer func() { <-s.rendering }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	info := s.infoOf(h)
	info.ID = journal.ID(ctx)
	var payload []byte
	err := safely(func() (err error) { // the server would meet the same delivery again after its start
		payload, err = s.render.Render(web.WithInfo(ctx, info), h, d)
		return err
	})
	if err == nil && len(payload) > maxPayload {
		err = errs.Newf(errs.TooLarge, "the payload is larger than %d bytes", maxPayload)
	}
	return payload, err
}

// unrendered handles a delivery that could not be rendered. It is deleted if its subject is missing or
// hidden, or if it is too large; else it is retried. Errors: those not caused by the delivery.
func (s *Sender) unrendered(ctx context.Context, d *Delivery, err error) error {
	gone := errs.Is(err, errs.NotFound) || errs.Is(err, errs.TooLarge)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errBusy):
		return err
	case !gone:
		s.log.WarnContext(ctx, "a delivery could not be rendered", "hook", d.HookID, "delivery", d.ID,
			"event", d.Event, "error", err)
	}
	s.log.DebugContext(ctx, "a delivery is not sent", "hook", d.HookID, "event", d.Event, "error", err)
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if gone {
			return drop(tx, d)
		}
		return putOff(tx, d)
	})
}
