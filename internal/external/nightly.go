package external

import (
	"context"
	"time"

	"arbor/internal/db"
)

// Times of comparisons.
const (
	night      = 3 * time.Hour // after midnight, UTC
	lookEvery  = 5 * time.Minute
	retryAfter = 10 * time.Minute // a directory that could not be read
	leased     = 2 * time.Minute
)

// untilNight is how long it is until the next comparison.
func untilNight(now time.Time) time.Duration {
	next := now.UTC().Truncate(24 * time.Hour).Add(night)
	if !next.After(now) {
		next = next.Add(24 * time.Hour)
	}
	return next.Sub(now)
}

// RunNightly compares a source each night until ctx is done; of several nodes one does. read reads the people. It
// returns nil: what fails is logged and tried again.
func (s *Service) RunNightly(ctx context.Context, source *Source, read func(context.Context) (Comparison, error)) error {
	return db.Upkeep(ctx, s.o.Log, lookEvery, "accounts were not compared with "+source.Name, func(ctx context.Context) error {
		return s.CompareIfDue(ctx, source, read)
	})
}

// CompareIfDue compares a source if it is time to, and nobody else does.
func (s *Service) CompareIfDue(
	ctx context.Context, source *Source, read func(context.Context) (Comparison, error),
) error {
	has, err := db.Get(ctx, s.o.DB, func(tx *db.Tx) (bool, error) { return hasComparison(tx, source.Issuer) })
	if err != nil {
		return err
	}
	if !has {
		return s.o.DB.Write(ctx, func(tx *db.Tx) error {
			now, err := tx.Clock()
			if err != nil {
				return err
			}
			return planComparison(tx, source.Issuer, now+db.Time(untilNight(now.Time()).Microseconds()))
		})
	}
	var lease *db.Lease
	err = s.o.DB.WriteDue(ctx, comparisons, `source = $1`, func(tx *db.Tx) (err error) {
		lease, err = comparisons.Take(tx, leased, 1, `source = $3`, source.Issuer)
		return err
	}, source.Issuer)
	if err != nil || lease == nil {
		return err
	}
	var report Report
	lease, err = s.o.DB.Hold(ctx, comparisons, lease, leased, func(ctx context.Context) error {
		c, err := read(ctx)
		if err == nil {
			report, err = s.Compare(ctx, c)
		}
		return err
	})
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		report.Problem = "the directory could not be read, or the comparison failed"
	}
	if report.Problem != "" {
		s.o.Log.ErrorContext(ctx, "accounts were not compared with a directory as they should be", "source", source.Name,
			"problem", report.Problem, "error", err)
	}
	failed := err
	return s.o.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		wait := untilNight(now.Time())
		if failed != nil {
			wait = min(wait, retryAfter)
		}
		if err := storeReport(tx, source.Issuer, report); err != nil {
			return err
		}
		return comparisons.PutOff(tx, lease, wait)
	})
}

// CompareNow compares a source at the operator's word, and stores what it found unless it is a dry run.
func (s *Service) CompareNow(ctx context.Context, c Comparison) (r Report, err error) {
	r, err = s.Compare(ctx, c)
	if err != nil || c.DryRun {
		return r, err
	}
	return r, s.o.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		due := now + db.Time(untilNight(now.Time()).Microseconds())
		if err := planComparison(tx, c.Source.Issuer, due); err != nil {
			return err
		}
		return storeReport(tx, c.Source.Issuer, r)
	})
}

// LastComparison returns what the last comparison of a source found.
func (s *Service) LastComparison(ctx context.Context, source *Source) (c Compared, err error) {
	return db.Get(ctx, s.o.DB, func(tx *db.Tx) (Compared, error) { return compared(tx, source.Issuer) })
}
