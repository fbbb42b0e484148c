package checkrun

import "slices"

// Status is the progress of a run or suite.
type Status uint8

// Statuses as stored.
const (
	Queued Status = iota + 1
	InProgress
	Completed
)

var statuses = [...]string{"queued", "in_progress", "completed"}

// String returns the name used in payloads.
func (s Status) String() string { return nameOf(statuses[:], int(s)) }

// Conclusion is the result of a completed run or suite; 0 if it is not completed.
type Conclusion uint8

// Conclusions as stored, worst first: a suite has the minimum of its runs. GitHub's "stale" is missing
// because clients cannot set it.
const (
	Failure Conclusion = iota + 1
	TimedOut
	Cancelled
	ActionRequired
	Neutral
	Success
	Skipped
)

// lastFailing is the last of the conclusions that block a merge.
const lastFailing = ActionRequired

var conclusions = [...]string{"failure", "timed_out", "cancelled", "action_required", "neutral",
	"success", "skipped"}

// String returns the name used in payloads, or "" for 0.
func (c Conclusion) String() string { return nameOf(conclusions[:], int(c)) }

// Level is the severity of an annotation.
type Level uint8

// Levels as stored.
const (
	LevelNotice Level = iota + 1
	LevelWarning
	LevelFailure
)

var levels = [...]string{"notice", "warning", "failure"}

// String returns the name used in payloads.
func (l Level) String() string { return nameOf(levels[:], int(l)) }

func nameOf(names []string, n int) string {
	if n < 1 || n > len(names) {
		return ""
	}
	return names[n-1]
}

// numberOf returns the stored number of a name, or 0 if it is unknown.
func numberOf(names []string, name string) int { return slices.Index(names, name) + 1 }

// Summary counts the latest runs of a commit, of all Apps.
type Summary struct {
	Runs    int64
	Waiting int64 // not completed
	Failing int64 // not success, neutral or skipped
}

// tally counts the latest runs of one suite.
type tally struct {
	Summary
	queued int64
	worst  Conclusion // of the completed runs
}

// state returns the status and conclusion of the suite.
func (t tally) state() (Status, Conclusion) {
	switch {
	case t.Runs == t.queued:
		return Queued, 0
	case t.Waiting > 0:
		return InProgress, 0
	}
	return Completed, t.worst
}
