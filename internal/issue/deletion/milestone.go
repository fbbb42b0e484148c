package deletion

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// DeleteMilestone removes a milestone and takes its issues out of it. They keep
// their updated_at; each notes the event. Error: 404.
func (s *Service) DeleteMilestone(ctx context.Context, a *repo.Access, number int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		m, err := milestone.ByNumber(tx, a.ID, number)
		if err != nil {
			return err
		}
		if err := milestone.TellGone(tx, a, m); err != nil {
			return err
		}
		detail, err := (&issue.Detail{Milestone: m.Title}).Encode()
		if err != nil {
			return err
		}
		if err := emptyMilestone(tx, m, a.Caller.ID, detail); err != nil {
			return err
		}
		return milestone.Delete(tx, m)
	})
}
