package checkrun

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// ensureSuite returns the suite of the calling App for a commit, and creates it if it does not exist.
func ensureSuite(tx *db.Tx, a *repo.Access, sha git.SHA, branch *string) (*Suite, error) {
	suite, err := suiteOf(tx, a.ID, sha, a.Caller.App)
	if !errs.Is(err, errs.NotFound) {
		return suite, err
	}
	suite = &Suite{RepoID: a.ID, AppID: a.Caller.App, SHA: sha, Branch: branch, Status: Queued,
		Bytes:     rowBytes,
		CreatedAt: tx.Now, UpdatedAt: tx.Now}
	if err := insertSuite(tx, suite); err != nil {
		return nil, err
	}
	return suite, bound(tx, suite)
}

// CreateSuite creates the suite of the calling App for a commit. made is false if it existed. Errors: 403,
// 404, 422.
func (s *Service) CreateSuite(
	ctx context.Context, a *repo.Access, sha git.SHA,
) (suite *Suite, made bool, err error) {
	branch, err := s.check(ctx, a, sha)
	if err != nil {
		return nil, false, err
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		_, err := suiteOf(tx, a.ID, sha, a.Caller.App)
		if made = errs.Is(err, errs.NotFound); err != nil && !made {
			return err
		}
		suite, err = ensureSuite(tx, a, sha, branch)
		return err
	})
	return suite, made, err
}

// RerequestSuite asks the App of a suite to run its checks again. It queues the suite and leaves its runs
// unchanged. Errors: 403, 404.
func (s *Service) RerequestSuite(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		suite, err := suiteByID(tx, a.ID, id)
		if err != nil {
			return err
		}
		if err := mayChange(a, suite.AppID); err != nil {
			return err
		}
		if err := reset(tx, id); err != nil {
			return err
		}
		return tellApp(tx, a.ID, suite.AppID, suiteEvent(a, id, "rerequested"))
	})
}

// bound deletes the oldest suites of a repository that exceeds maxRepoBytes, at most maxDropped in one
// call.
func bound(tx *db.Tx, kept *Suite) error {
	total, err := addUp(tx, kept)
	if err != nil {
		return err
	}
	for range maxDropped {
		if total <= maxRepoBytes {
			return nil
		}
		freed, err := dropOldestSuite(tx, kept)
		if err != nil || freed == 0 {
			return err
		}
		total -= freed
	}
	return nil
}

// maxDropped is the number of suites that one call of bound deletes.
const maxDropped = 3

// Preference sets whether a push creates suites for an App.
type Preference struct {
	AppID account.AppID
	Auto  bool
}

// maxPreferences is the number of Apps in one request.
const maxPreferences = 30

// Prefer sets for which Apps pushes create suites. Errors: 404, and 422 for an App that is not installed and for
// more than maxPreferences.
func (s *Service) Prefer(
	ctx context.Context, a *repo.Access, list []Preference,
) (all []Preference, err error) {
	if len(list) > maxPreferences {
		return nil, errs.Newf(errs.Invalid, "At most %d Apps at one time.", maxPreferences)
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		for _, p := range list {
			here, err := installed(tx, a.ID, p.AppID)
			if err != nil {
				return err
			}
			if !here {
				return errs.Validation(errs.Field{Resource: SuiteResource, Field: "auto_trigger_checks",
					Code: errs.InvalidField, Value: p.AppID})
			}
			if err := setPreference(tx, a.ID, p); err != nil {
				return err
			}
			action := audit.ChecksAutoOff
			if p.Auto {
				action = audit.ChecksAutoOn
			}
			if err := audit.Record(tx, a.Audited(action, map[string]any{"app_id": p.AppID})); err != nil {
				return err
			}
		}
		all, err = preferences(tx, a.ID)
		return err
	})
	return all, err
}

// FollowPush creates a suite at the new tip of each pushed branch for each App that is installed in the
// repository, may write checks and is not excluded by a preference. It then sends each App a request for
// its runs. A commit that has a suite of the App does not get another.
func FollowPush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var heads []repo.RefUpdate
	for _, u := range moved {
		if u.By != 0 && u.New != git.ZeroSHA && u.Old != u.New && strings.HasPrefix(u.Name, "refs/heads/") {
			heads = append(heads, u)
		}
	}
	if len(heads) == 0 || len(heads) > maxBranches {
		return nil
	}
	made, err := sendPushed(tx, repoID, heads)
	if err != nil {
		return err
	}
	tx.BeforeCommit(func(tx *db.Tx) error { return requestRuns(tx, repoID, made, heads[0].By) })
	return nil
}

// requestRuns asks Apps for the runs of new suites.
func requestRuns(tx *db.Tx, repoID repo.ID, made map[account.AppID][]int64, by account.ID) error {
	if len(made) == 0 {
		return nil
	}
	var bytes int64
	for app, ids := range made {
		bytes += int64(len(ids)) * rowBytes
		list := make([]hook.Event, len(ids))
		for n, id := range ids {
			list[n] = suiteRequested(id, by)
		}
		if err := hook.RecordForApp(tx, app, repoID, list...); err != nil {
			return err
		}
	}
	_, err := count(tx, repoID, bytes)
	return err
}

func suiteRequested(id int64, by account.ID) hook.Event {
	return hook.Event{Name: "check_suite", Action: "requested", Actor: by, About: hook.About{ID: id}}
}
