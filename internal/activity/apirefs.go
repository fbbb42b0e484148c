package activity

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// branchPayload is GitHub's activity: a change of a branch.
type branchPayload struct {
	ID     int64           `json:"id"`
	NodeID string          `json:"node_id"`
	Before git.SHA         `json:"before"`
	After  git.SHA         `json:"after"`
	Ref    string          `json:"ref"`
	At     db.Time         `json:"timestamp"`
	Type   string          `json:"activity_type"`
	Actor  *account.Simple `json:"actor"`
}

// Types of changes of branches.
const (
	typePush     = "push"
	typeForce    = "force_push"
	typeCreation = "branch_creation"
	typeDeletion = "branch_deletion"
	typeMerge    = "pr_merge"
)

// periods are the values of time_period in days.
var periods = map[string]time.Duration{"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}

// branchFilter chooses changes of branches.
type branchFilter struct {
	ref, actor, kind string // empty: all
	since            time.Duration
	oldestFirst      bool
	before, after    int64 // cursors: ids of changes; 0: none
	size             int
}

// readBranchFilter reads the parameters of a request. Error: 422.
func readBranchFilter(r *http.Request) (f branchFilter, err error) {
	q := web.QueryOf(r)
	f = branchFilter{ref: q.Get("ref"), actor: q.Get("actor"), kind: q.Get("activity_type"),
		oldestFirst: q.Get("direction") == "asc", size: int(web.ReadPageSize(r))}
	if f.ref != "" && !strings.HasPrefix(f.ref, "refs/heads/") {
		f.ref = "refs/heads/" + f.ref
	}
	if period := q.Get("time_period"); period != "" {
		days, known := periods[period]
		if !known {
			return f, errs.New(errs.Invalid, "time_period must be one of day, week, month, quarter, year")
		}
		f.since = days * 24 * time.Hour
	}
	types := []string{typePush, typeForce, typeCreation, typeDeletion, typeMerge, "merge_queue_merge"}
	if f.kind != "" && !slices.Contains(types, f.kind) {
		return f, errs.New(errs.Invalid, "activity_type must be one of "+strings.Join(types, ", "))
	}
	for name, to := range map[string]*int64{"before": &f.before, "after": &f.after} {
		if text := q.Get(name); text != "" {
			if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to <= 0 {
				return f, errs.Newf(errs.Invalid, "%s must be a cursor of a Link header", name)
			}
		}
	}
	return f, nil
}

// GET /repos/{owner}/{repo}/activity
//
// ListOfBranches lists the changes of branches among the newest 300 events of a repository that the caller may see.
// Merges by a merge queue are merges of pull requests. Error: 422.
func (api *API) ListOfBranches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := readBranchFilter(r)
	if err != nil {
		return err
	}
	c, err := api.branchChanges(r.Context(), a, f)
	if err != nil {
		return err
	}
	chosen, more, err := c.choose(r.Context(), api.repos, a, f)
	if err != nil {
		return err
	}
	i := web.From(r.Context())
	out := make([]branchPayload, len(chosen))
	for n, one := range chosen {
		out[n] = branchPayload{ID: one.ID, NodeID: account.NodeID("RepositoryActivity", one.ID), Before: one.Before,
			After: one.After, Ref: one.Ref, At: one.CreatedAt, Type: one.kind,
			Actor: account.NewSimple(c.people[one.ActorID], i)}
	}
	first, last := "", ""
	if len(out) > 0 {
		first, last = strconv.FormatInt(out[0].ID, 10), strconv.FormatInt(out[len(out)-1].ID, 10)
	}
	if f.before != 0 { // read backwards
		if !more {
			first = ""
		}
	} else {
		if !more {
			last = ""
		}
		if f.after == 0 {
			first = ""
		}
	}
	web.LinkCursors(w, r, last, first)
	return web.JSON(w, r, http.StatusOK, out)
}

// branchChange is an activity of a branch with its type; empty: a push, forced or not.
type branchChange struct {
	*Activity
	kind string
}

// branchChanges are changes of branches in the order of the answer, and what they name.
type branchChanges struct {
	list   []*branchChange
	people map[account.ID]*account.Account
}

// branchChanges reads the changes of branches that a filter chooses, but for their types.
func (s *Service) branchChanges(ctx context.Context, a *repo.Access, f branchFilter) (*branchChanges, error) {
	c := &branchChanges{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		c.list = nil // it may run again
		all, err := list(tx, a.Caller, ofRepo(a.ID, a.Granted))
		if err != nil {
			return err
		}
		var actors []account.ID
		var tips []git.SHA
		for _, one := range all {
			if one.isOfBranch() {
				actors, tips = append(actors, one.ActorID), append(tips, one.After)
			}
		}
		if c.people, err = account.ByIDs(tx, db.Unique(actors)); err != nil {
			return err
		}
		merged, err := pull.MergedAs(tx, a.ID, tips)
		if err != nil {
			return err
		}
		for _, one := range all {
			who := c.people[one.ActorID]
			since := tx.Now - db.Time(f.since/time.Microsecond)
			if !one.isOfBranch() || f.ref != "" && one.Ref != f.ref || f.since != 0 && one.CreatedAt < since ||
				f.actor != "" && (who == nil || account.Fold(who.Login) != account.Fold(f.actor)) {
				continue
			}
			change := &branchChange{one, map[Kind]string{Created: typeCreation, Deleted: typeDeletion}[one.Kind]}
			if merged[one.After] && one.Kind == Pushed {
				change.kind = typeMerge
			}
			c.list = append(c.list, change)
		}
		return nil
	})
	if f.oldestFirst {
		slices.Reverse(c.list)
	}
	return c, err
}

// isOfBranch reports whether a branch was pushed to, created or deleted.
func (a *Activity) isOfBranch() bool {
	return (a.Kind == Pushed || a.Kind == Created || a.Kind == Deleted) && strings.HasPrefix(a.Ref, "refs/heads/")
}

// choose returns the changes of a page with their types, and whether more follow in the direction of the cursor.
func (c *branchChanges) choose(
	ctx context.Context, repos *repo.Service, a *repo.Access, f branchFilter,
) (chosen []*branchChange, more bool, err error) {
	objects, release, err := repos.Git(ctx, a)
	if err != nil {
		return nil, false, err
	}
	defer release()
	at := func(id int64) int {
		return slices.IndexFunc(c.list, func(one *branchChange) bool { return one.ID == id })
	}
	rest := c.list
	switch {
	case f.before != 0:
		rest = slices.Clone(c.list[:max(at(f.before), 0)])
		slices.Reverse(rest)
	case f.after != 0:
		from := at(f.after) + 1
		if from == 0 { // the cursor's entry is older than all listed
			from = len(rest)
		}
		rest = rest[from:]
	}
	for _, one := range rest {
		if one.kind == "" {
			if one.kind, err = kindOfPush(ctx, objects, one.Activity); err != nil {
				return nil, false, err
			}
		}
		if f.kind != "" && one.kind != f.kind {
			continue
		}
		if more = len(chosen) == f.size; more {
			break
		}
		chosen = append(chosen, one)
	}
	if f.before != 0 {
		slices.Reverse(chosen)
	}
	return chosen, more, nil
}

// kindOfPush returns whether a push was forced: the former tip is not in the new one's history, or is gone.
func kindOfPush(ctx context.Context, objects *git.Repository, a *Activity) (string, error) {
	is, err := objects.IsAncestor(ctx, a.Before, a.After)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return "", err
	}
	if is {
		return typePush, nil
	}
	return typeForce, nil
}
