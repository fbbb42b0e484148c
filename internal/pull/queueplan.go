package pull

import (
	"fmt"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// queueState is a merge queue as a transaction sees it.
type queueState struct {
	*mergequeue.Queue
	in       *repo.Access
	rule     *rule.Queue // nil: the branch has no merge queue
	tip      git.SHA     // of the base; empty: it was deleted
	entries  []*mergequeue.Entry
	ended    *mergequeue.Group // whose branch has to go; nil: there is none
	pulls    map[issue.ID]*Pull
	may      map[int64]bool // by entry: the one who enqueued may push
	outlooks map[int64]*rule.Outlook
	states   rule.States // of the groups
	now      db.Time
}

// readQueue reads a queue with a fixed number of statements, and one for each App that enqueued. Error: 404.
func readQueue(tx *db.Tx, id int64) (*queueState, error) {
	queue, err := mergequeue.ByID(tx, id)
	if err != nil {
		return nil, err
	}
	q := &queueState{Queue: queue, now: tx.Now}
	list, err := repo.Accesses(tx, nil, []repo.ID{q.RepoID})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].Deleted() {
		return nil, errs.Absent()
	}
	q.in = list[0]
	if q.ended, err = mergequeue.Ended(tx, id); errs.Is(err, errs.NotFound) {
		q.ended, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if q.rule, err = rule.QueueOf(tx, q.RepoID, q.Base); err != nil {
		return nil, err
	}
	if q.tip, err = repo.BranchTip(tx, q.RepoID, q.Base); err != nil {
		return nil, err
	}
	if q.entries, err = mergequeue.Entries(tx, id); err != nil || len(q.entries) == 0 {
		return q, err
	}
	return q, q.readPulls(tx)
}

// readPulls reads what decides about the entries.
func (q *queueState) readPulls(tx *db.Tx) (err error) {
	var ids []issue.ID
	var groups []git.SHA
	for _, e := range q.entries {
		if ids = append(ids, e.IssueID); e.Group != nil {
			groups = append(groups, e.Group.Head)
		}
	}
	if q.pulls, err = ByIDs(tx, ids); err != nil {
		return err
	}
	if q.may, err = q.readRights(tx); err != nil || q.rule == nil {
		return err
	}
	var candidates []rule.Candidate
	for _, p := range q.pulls {
		candidates = append(candidates, p.candidate())
	}
	if q.outlooks, err = rule.Outlooks(tx, candidates); err != nil {
		return err
	}
	q.states, err = rule.ReadStates(tx, []repo.ID{q.RepoID}, groups)
	return err
}

// readRights returns which of those who enqueued may push.
func (q *queueState) readRights(tx *db.Tx) (map[int64]bool, error) {
	var by []account.ID
	for _, e := range q.entries {
		by = append(by, e.By)
	}
	people, err := repo.PeopleByID(tx, q.in.Repo, db.Unique(by))
	if err != nil {
		return nil, err
	}
	accounts, err := account.ByIDs(tx, db.Unique(by))
	if err != nil {
		return nil, err
	}
	may, apps := map[int64]bool{}, map[account.InstallationID]bool{}
	for _, e := range q.entries {
		if who := accounts[e.By]; e.Installation == 0 {
			may[e.ID] = who != nil && who.SuspendedAt.IsZero() && people[e.By].Role >= account.Push
			continue
		}
		is, known := apps[e.Installation]
		if !known {
			_, err := queueActor(tx, e, q.RepoID)
			if is = err == nil; err != nil && !isLost(err) {
				return nil, err
			}
			apps[e.Installation] = is
		}
		may[e.ID] = is
	}
	return may, nil
}

// stepKind says what a queue does next.
type stepKind int

const (
	stepWait       stepKind = iota
	stepDrop                // delete the branch of a group that ended
	stepRemove              // entries leave
	stepInvalidate          // groups end, since what they were built on has changed
	stepMerge
	stepBuild
)

// queueStep is what a queue does next.
type queueStep struct {
	kind   stepKind
	group  *mergequeue.Group // dropped
	entry  *mergequeue.Entry // built
	leave  []leaving         // removed
	groups []int64           // that are invalidated
	base   git.SHA           // on which the entry is built
	merge  []*mergequeue.Entry
	wait   time.Duration // 0: until it is woken
}

// leaving is an entry that has to leave its queue.
type leaving struct {
	entry *mergequeue.Entry
	why   string
}

// maxLeaving is how many entries leave in one transaction.
const maxLeaving = 20

// key tells steps apart: the transaction of a step first looks whether it is still the next one.
func (s *queueStep) key() string {
	key := fmt.Sprint(s.kind, s.groups, s.base)
	if s.group != nil {
		key += fmt.Sprint(" group ", s.group.ID)
	}
	if s.entry != nil {
		key += fmt.Sprint(" entry ", s.entry.ID)
	}
	for _, l := range s.leave {
		key += fmt.Sprint(" leave ", l.entry.ID, l.why)
	}
	for _, e := range s.merge {
		key += fmt.Sprint(" merge ", e.ID, e.Group.ID)
	}
	return key
}

// next returns what the queue does next.
func (q *queueState) next() *queueStep {
	if q.in.Archived {
		return &queueStep{}
	}
	if q.ended != nil {
		return &queueStep{kind: stepDrop, group: q.ended}
	}
	var leave []leaving
	for _, e := range q.entries {
		if why := q.unfit(e); why != "" && len(leave) < maxLeaving {
			leave = append(leave, leaving{e, why})
		}
	}
	if len(leave) > 0 {
		return &queueStep{kind: stepRemove, leave: leave}
	}
	if groups := q.stale(); len(groups) > 0 {
		return &queueStep{kind: stepInvalidate, groups: groups}
	}
	return q.advance()
}

// unfit returns why an entry has to leave, whatever its checks say, or "".
func (q *queueState) unfit(e *mergequeue.Entry) string {
	o, p := q.outlooks[int64(e.IssueID)], q.pulls[e.IssueID]
	switch {
	case !p.Open || p.HeadRepoID == 0 || p.RepoID != q.RepoID || p.BaseRef != q.Base: // see FollowDeletion
		return leftByHand
	case q.rule == nil || q.tip == "":
		return leftCleared
	case !q.may[e.ID], o != nil && len(o.Unready) > 0:
		return leftRules
	}
	return ""
}

// stale returns the groups that are not built on the base, or on the group before them: the first of them, and all
// after it.
func (q *queueState) stale() (groups []int64) {
	on := q.tip
	for n, e := range q.entries {
		g := e.Group
		if g == nil {
			on = ""
			continue
		}
		if len(groups) > 0 || n >= q.rule.Builds() || g.Base != on || g.PullSHA != q.pulls[e.IssueID].HeadSHA {
			groups = append(groups, g.ID)
		}
		on = g.Head
	}
	return groups
}

// built counts the entries that have groups, which are the first ones.
func (q *queueState) built() int {
	for n, e := range q.entries {
		if e.Group == nil {
			return n
		}
	}
	return len(q.entries)
}

// verdict returns how the checks of an entry's group stand, and why it leaves if they failed.
func (q *queueState) verdict(e *mergequeue.Entry) (rule.Verdict, string) {
	switch v := q.rule.Verdict(q.states, q.RepoID, e.Group.Head); {
	case v == rule.Failed:
		return v, leftFailure
	case v == rule.Waiting && q.now >= q.timeout(e):
		return rule.Failed, leftTimeout
	default:
		return v, ""
	}
}

func minutes(n int64) db.Time { return db.Time(time.Duration(n) * time.Minute / time.Microsecond) }

// timeout returns when the checks of an entry's group count as failed.
func (q *queueState) timeout(e *mergequeue.Entry) db.Time {
	return e.Group.At + minutes(q.rule.Timeout)
}

// ready returns how many entries can be merged together, and the place of one that failed, or -1. An entry fails only
// after those before it have passed, since one of them may be the reason.
func (q *queueState) ready() (ready, failed int, why string) {
	built, window := q.built(), min(len(q.entries), q.rule.Merges())
	if q.rule.Grouping == rule.HeadGreen {
		all := built >= window
		for n := min(built, window) - 1; n >= 0; n-- {
			switch v, _ := q.verdict(q.entries[n]); v {
			case rule.Passed:
				return n + 1, -1, ""
			case rule.Waiting:
				all = false
			}
		}
		if built > 0 && all {
			_, why = q.verdict(q.entries[0])
			return 0, 0, why
		}
		return 0, -1, ""
	}
	for ready < min(built, window) {
		v, why := q.verdict(q.entries[ready])
		if v == rule.Failed {
			return ready, ready, why
		}
		if v != rule.Passed {
			break
		}
		ready++
	}
	return ready, -1, ""
}

// advance merges, removes or builds an entry, or waits.
func (q *queueState) advance() *queueStep {
	if len(q.entries) == 0 {
		return &queueStep{}
	}
	ready, failed, why := q.ready()
	together := q.entries[0].At + minutes(q.rule.MinWait)
	switch built := q.built(); {
	case failed >= 0:
		return &queueStep{kind: stepRemove, leave: []leaving{{q.entries[failed], why}}}
	case ready > 0 && (ready >= int(q.rule.MinMerge) || ready == q.rule.Merges() || q.now >= together):
		return &queueStep{kind: stepMerge, merge: q.entries[:ready]}
	case built < min(len(q.entries), q.rule.Builds()):
		on := q.tip
		if built > 0 {
			on = q.entries[built-1].Group.Head
		}
		return &queueStep{kind: stepBuild, entry: q.entries[built], base: on}
	}
	return &queueStep{wait: q.pause(ready, together)}
}

// pause returns how long the queue waits if nothing happens before.
func (q *queueState) pause(ready int, together db.Time) time.Duration {
	until := db.Time(0)
	sooner := func(at db.Time) {
		if until == 0 || at < until {
			until = at
		}
	}
	if ready > 0 {
		sooner(together)
	}
	for _, e := range q.entries[:q.built()] {
		if v, _ := q.verdict(e); v == rule.Waiting {
			sooner(q.timeout(e))
		}
	}
	if until == 0 {
		return 0
	}
	return max(time.Second, time.Duration(until-q.now)*time.Microsecond)
}
