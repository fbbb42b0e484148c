package db

import (
	"context"
	"log/slog"
	"time"
)

// Outcomes of reads that the replica could have served.
const (
	replicaServed = iota
	replicaBehind
	replicaFailed
	replicaLeft
)

var replicaOutcomes = [...]string{"replica", "behind", "failed", "left alone"}

// suspend leaves the replica alone for a while.
func (r *replica) suspend(ctx context.Context, err error) {
	r.unusedUntil.Store(time.Now().Add(leaveBroken).UnixNano())
	r.conns.Reset()
	r.note(ctx, err.Error())
}

// suspendLagging stops the use of a replica that is behind, for a while. If it lags for long, it logs a problem:
// the replay may be paused, or the standby may follow no server.
func (r *replica) suspendLagging(ctx context.Context) {
	r.outcome[replicaBehind].Add(1)
	now := time.Now()
	r.unusedUntil.Store(now.Add(leaveBehind).UnixNano())
	r.mu.Lock()
	if now.Sub(r.lagged) > 5*leaveBehind { // a lag seen long ago was another one
		r.behind = now
	}
	r.lagged = now
	long := now.Sub(r.behind) > r.lagAlarm
	r.mu.Unlock()
	if long {
		r.note(ctx, errBehind.Error())
	}
}

// noteServed notes that a read came from the replica.
func (r *replica) noteServed(ctx context.Context) {
	r.mu.Lock()
	r.lagged = time.Time{}
	r.mu.Unlock()
	r.note(ctx, "")
}

// note logs that the replica cannot be used, or that it can again: once each.
func (r *replica) note(ctx context.Context, problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case (problem == "") == (r.problem == ""):
		return
	case problem == "":
		r.log.LogAttrs(ctx, slog.LevelInfo, "the replica answers again")
	default:
		r.log.LogAttrs(ctx, slog.LevelWarn, "the replica cannot be used, so the primary serves all reads",
			slog.String("error", problem))
	}
	r.problem = problem
}

// ReplicaReads returns how many reads the replica could have served, by outcome. It is nil without a replica.
func (d *DB) ReplicaReads() map[string]int64 {
	if d.replica == nil {
		return nil
	}
	counts := map[string]int64{}
	for i, name := range replicaOutcomes {
		counts[name] = d.replica.outcome[i].Load()
	}
	return counts
}

// ReplicaProblem says why the replica is not used, or nothing.
func (d *DB) ReplicaProblem() string {
	if d.replica == nil {
		return ""
	}
	d.replica.mu.Lock()
	defer d.replica.mu.Unlock()
	return d.replica.problem
}
