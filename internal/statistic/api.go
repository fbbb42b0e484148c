package statistic

import (
	"context"
	"encoding/json"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API implements the HTTP handlers of statistics.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Routes returns the routes of statistics.
func (api *API) Routes() []route.Route {
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	return []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/stats/code_frequency", api.CodeFrequency),
		contents.Pull("GET /repos/{owner}/{repo}/stats/commit_activity", api.CommitActivity),
		contents.Pull("GET /repos/{owner}/{repo}/stats/contributors", api.Contributors),
		contents.Pull("GET /repos/{owner}/{repo}/stats/participation", api.Participation),
		contents.Pull("GET /repos/{owner}/{repo}/stats/punch_card", api.PunchCard),
	}
}

// known are the statistics of a repository with what is known when they are shown.
type known struct {
	counts                              // nothing, if the default branch has no commits
	empty   bool                        // it has none
	waiting bool                        // they are being counted
	now     int64                       // the number of today
	people  map[string]*account.Account // of the authors, if they were asked for
}

// read returns the statistics of a repository. If they are not counted yet, it adds a job.
func (s *Service) read(ctx context.Context, a *repo.Access, people bool) (k known, err error) {
	var found kept
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		k.now = tx.Now.Time().Unix() / daySeconds
		found, err = keptOf(tx, a.ID)
		if err != nil || found.counts == nil {
			return err
		}
		if err := json.Unmarshal([]byte(*found.counts), &k.counts); err != nil || !people {
			return err
		}
		emails := make([]string, len(k.Authors))
		for n, one := range k.Authors {
			emails[n] = one.Email
		}
		k.people, err = account.ByEmails(tx, emails)
		return err
	})
	k.empty, k.waiting = found.tip == "", found.counts == nil
	if err == nil && !k.empty && k.waiting && !found.asked {
		err = s.db.Write(ctx, func(tx *db.Tx) error { return ask(tx, a.ID) })
	}
	return k, err
}

// answer answers with what show makes of the statistics: 202 until they are counted, 204 for a repository
// without commits.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, a *repo.Access, people bool, show func(*known) (any, error),
) error {
	k, err := api.s.read(r.Context(), a, people)
	switch {
	case err != nil:
		return err
	case k.empty:
		return web.NoContent(w)
	case k.waiting:
		return web.JSON(w, r, http.StatusAccepted, struct{}{})
	}
	out, err := show(&k)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/stats/code_frequency
//
// CodeFrequency returns the lines that were added and deleted in each week. Error: 422 for 10,000 commits and
// more, as at GitHub.
func (api *API) CodeFrequency(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answer(w, r, a, false, func(k *known) (any, error) {
		if !k.Lines {
			return nil, errs.New(errs.Invalid, "lines are not counted in repositories with 10,000 commits or more, "+
				"or whose commits take too long to compare")
		}
		return k.codeFrequency(), nil
	})
}

// GET /repos/{owner}/{repo}/stats/commit_activity
//
// CommitActivity returns the commits of each day of the last 52 weeks.
func (api *API) CommitActivity(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answer(w, r, a, false, func(k *known) (any, error) { return k.commitActivity(), nil })
}

// GET /repos/{owner}/{repo}/stats/contributors
//
// Contributors returns what the 100 authors with most commits did in each week, those with most last.
func (api *API) Contributors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i := web.From(r.Context())
	return api.answer(w, r, a, true, func(k *known) (any, error) { return k.contributors(i), nil })
}

// GET /repos/{owner}/{repo}/stats/participation
//
// Participation returns how many commits everybody, and the owner, made in each of the last 52 weeks.
func (api *API) Participation(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	k, err := api.s.read(r.Context(), a, true)
	switch {
	case err != nil:
		return err
	case k.waiting && !k.empty:
		return web.JSON(w, r, http.StatusAccepted, struct{}{})
	}
	return web.JSON(w, r, http.StatusOK, k.participation(a.Owner.ID))
}

// GET /repos/{owner}/{repo}/stats/punch_card
//
// PunchCard returns the commits of each hour of the week, in the authors' time zones.
func (api *API) PunchCard(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answer(w, r, a, false, func(k *known) (any, error) { return k.punchCard(), nil })
}
