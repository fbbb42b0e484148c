package checkrun

import (
	"encoding/json"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/check-suites
//
// CreateSuite creates the suite of the calling App for the commit with a full SHA: 201, or 200 if it
// exists. Errors: 403 if the caller is not an App, 422.
func (api *API) CreateSuite(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayWrite(a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, SuiteResource)
	if err != nil {
		return err
	}
	body.Require("head_sha")
	sha, err := readSHA(body)
	if err == nil {
		err = body.Err()
	}
	if err != nil {
		return err
	}
	suite, made, err := api.s.CreateSuite(r.Context(), a, sha)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
		w.Header().Set("Location", issuekit.AddressesOf(r, a).API+"/check-suites/"+strconv.FormatInt(suite.ID, 10))
	}
	return api.answerSuite(w, r, a, status, suite)
}

// GET /repos/{owner}/{repo}/check-suites/{check_suite_id}
//
// GetSuite returns one suite. Error: 404.
func (api *API) GetSuite(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	suite, err := api.findSuite(r, a)
	if err != nil {
		return err
	}
	return api.answerSuite(w, r, a, http.StatusOK, suite)
}

// findSuite reads the suite with the id {check_suite_id}. Error: 404.
func (api *API) findSuite(r *http.Request, a *repo.Access) (suite *Suite, err error) {
	id, err := web.Number(r, "check_suite_id")
	if err != nil {
		return nil, err
	}
	return db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Suite, error) { return suiteByID(tx, a.ID, id) })
}

// answerSuite writes one suite as the response.
func (api *API) answerSuite(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, suite *Suite,
) error {
	_, list, err := api.suites(r, a, suite.SHA,
		func(*db.Tx) ([]*Suite, int64, error) { return []*Suite{suite}, 1, nil })
	if err != nil {
		return err
	}
	return web.JSON(w, r, status, list[0])
}

// suites calls find to read suites of one commit and their total number, and renders them.
func (api *API) suites(
	r *http.Request, a *repo.Access, sha git.SHA, find func(tx *db.Tx) ([]*Suite, int64, error),
) (total int64, out []*SuitePayload, err error) {
	var v *view
	var list []*Suite
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, total, err = find(tx); err != nil {
			return err
		}
		apps := make([]account.AppID, len(list))
		for n, s := range list {
			apps[n] = s.AppID
		}
		v, err = api.s.look(r.Context(), tx, a, sha, apps)
		return err
	})
	if err != nil || len(list) == 0 {
		return total, nil, err
	}
	head, err := api.s.head(r.Context(), a, sha, list[0].CreatedAt)
	shown := repo.NewPayload(a, v.info)
	for _, s := range list {
		p := v.suite(s)
		p.Repository, p.Commit = shown, head
		out = append(out, p)
	}
	return total, out, err
}

// GET /repos/{owner}/{repo}/commits/{ref...}/check-suites
//
// ListSuites lists the suites of a commit, oldest first. They can be filtered by app_id and by check_name,
// the name of a run in the suite. Errors: 409 for an empty repository, 422.
func (api *API) ListSuites(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f := suiteFilter{name: web.QueryOf(r).Get("check_name")}
	var err error
	if f.app, err = readApp(r); err != nil {
		return err
	}
	if f.sha, err = api.git.CommitNamed(r.Context(), a, web.Param(r, "ref")); err != nil {
		return err
	}
	page := web.ReadPage(r)
	total, list, err := api.suites(r, a, f.sha,
		func(tx *db.Tx) ([]*Suite, int64, error) { return suitesOf(tx, a.ID, f, page) })
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return counted(out, total, "check_suites", len(list), func(n int) any { return list[n] })
	})
}

// POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest
//
// RerequestSuite asks the suite's App, which must be the caller, to run its checks again: 201. Errors: 403,
// 404.
func (api *API) RerequestSuite(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayWrite(a); err != nil {
		return err
	}
	id, err := web.Number(r, "check_suite_id")
	if err == nil {
		err = api.s.RerequestSuite(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, struct{}{})
}

// preferencePayload is GitHub's check-suite-preference.
type preferencePayload struct {
	Preferences struct {
		Auto []autoPayload `json:"auto_trigger_checks"`
	} `json:"preferences"`
	Repository *repo.Payload `json:"repository"`
}

type autoPayload struct {
	AppID   account.AppID `json:"app_id"`
	Setting bool          `json:"setting"`
}

// PATCH /repos/{owner}/{repo}/check-suites/preferences
//
// Prefer sets for which Apps a push creates suites, and returns all preferences of the repository. Error:
// 422.
func (api *API) Prefer(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, SuiteResource)
	if err != nil {
		return err
	}
	list, err := readPreferences(body)
	if err != nil {
		return err
	}
	all, err := api.s.Prefer(r.Context(), a, list)
	if err != nil {
		return err
	}
	p := preferencePayload{Repository: repo.NewPayload(a, web.From(r.Context()))}
	p.Preferences.Auto = make([]autoPayload, len(all))
	for n, one := range all {
		p.Preferences.Auto[n] = autoPayload{one.AppID, one.Auto}
	}
	return web.JSON(w, r, http.StatusOK, p)
}

func readPreferences(body *web.Object) ([]Preference, error) {
	var list []Preference
	for _, raw := range items(body, "auto_trigger_checks", maxPreferences) {
		one, err := web.ParseObject(json.RawMessage(raw), SuiteResource)
		if err != nil {
			body.Wrong("auto_trigger_checks", errs.InvalidField,
				`"auto_trigger_checks" must be an array of objects`)
			break
		}
		one.Require("app_id", "setting")
		p := Preference{AppID: account.AppID(one.Int("app_id").Value), Auto: one.Bool("setting").Value}
		if err := one.Err(); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, body.Err()
}
