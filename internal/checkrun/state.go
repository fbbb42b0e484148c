package checkrun

import "slices"

// Status is how far a run or a suite is.
type Status uint8

// The statuses, as they are stored.
const (
	Queued Status = iota + 1
	InProgress
	Completed
)

var statuses = [...]string{"queued", "in_progress", "completed"}

// String gives the name in payloads.
func (s Status) String() string { return nameOf(statuses[:], int(s)) }

// Conclusion is what came of a run or a suite; 0 is none yet.
type Conclusion uint8

// The conclusions, as they are stored: the worst first, so a suite has the least of its runs. GitHub has
// "stale", too, which no client may set.
const (
	Failure Conclusion = iota + 1
	TimedOut
	Cancelled
	ActionRequired
	Neutral
	Success
	Skipped
)

// lastFailing is the last of those that stand in the way of a merge.
const lastFailing = ActionRequired

var conclusions = [...]string{"failure", "timed_out", "cancelled", "action_required", "neutral",
	"success", "skipped"}

// String gives the name in payloads; "" for none.
func (c Conclusion) String() string { return nameOf(conclusions[:], int(c)) }

// Level is how much an annotation matters.
type Level uint8

// The levels, as they are stored.
const (
	LevelNotice Level = iota + 1
	LevelWarning
	LevelFailure
)

var levels = [...]string{"notice", "warning", "failure"}

// String gives the name in payloads.
func (l Level) String() string { return nameOf(levels[:], int(l)) }

func nameOf(names []string, n int) string {
	if n < 1 || n > len(names) {
		return ""
	}
	return names[n-1]
}

// numberOf is what stands for a name; 0: nothing.
func numberOf(names []string, name string) int { return slices.Index(names, name) + 1 }

// Summary is what the latest runs of a commit come to, of all Apps.
type Summary struct {
	Runs    int64
	Waiting int64 // not completed
	Failing int64 // neither successful nor neutral nor skipped
}

// tally is what the latest runs of one suite come to.
type tally struct {
	Summary
	queued int64
	worst  Conclusion // of those that are completed
}

// state is the state of a suite with these runs.
func (t tally) state() (Status, Conclusion) {
	switch {
	case t.Runs == t.queued:
		return Queued, 0
	case t.Waiting > 0:
		return InProgress, 0
	}
	return Completed, t.worst
}
