package checkrun

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of check runs and check suites.
type API struct {
	s   *Service
	git *gitdata.Service
}

// NewAPI returns the handlers of s. It uses g to resolve commit names.
func NewAPI(s *Service, g *gitdata.Service) *API { return &API{s, g} }

// POST /repos/{owner}/{repo}/check-runs
//
// Create creates a check run of the calling App for the commit with a full SHA. Errors: 403 if the caller
// is not an App, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayWrite(a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	sha, change, err := ReadNew(body)
	if err != nil {
		return err
	}
	run, err := api.s.Create(r.Context(), a, sha, change)
	if err != nil {
		return err
	}
	w.Header().Set("Location", issuekit.AddressesOf(r, a).API+"/check-runs/"+strconv.FormatInt(run.ID, 10))
	return api.answer(w, r, a, http.StatusCreated, run)
}

// GET /repos/{owner}/{repo}/check-runs/{check_run_id}
//
// Get returns one run. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	run, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, run)
}

// find reads the run with the id {check_run_id}. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (run *Run, err error) {
	id, err := web.Number(r, "check_run_id")
	if err != nil {
		return nil, err
	}
	return db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*Run, error) { return runByID(tx, a.ID, id) })
}

// answer writes one run as the response.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, run *Run) error {
	v, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*view, error) {
		return api.s.look(r.Context(), tx, a, run.SHA, []account.AppID{run.AppID})
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, status, v.run(run))
}

// PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}
//
// Edit updates a run of the calling App. Fields that are not sent keep their values; annotations are added.
// Errors: 403, 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayWrite(a); err != nil {
		return err
	}
	run, err := api.find(r, a)
	if err == nil {
		err = mayChange(a, run.AppID)
	}
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	change, err := ReadChange(body)
	if err != nil {
		return err
	}
	if run, err = api.s.Edit(r.Context(), a, run.ID, change); err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, run)
}

// POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest
//
// Rerequest asks the run's App, which must be the caller, to run it again: 201. Errors: 403, 404.
func (api *API) Rerequest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayWrite(a); err != nil {
		return err
	}
	id, err := web.Number(r, "check_run_id")
	if err == nil {
		err = api.s.Rerequest(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, struct{}{})
}

// GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations
//
// ListAnnotations lists the annotations of a run in the order of their creation. Error: 404.
func (api *API) ListAnnotations(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	run, err := api.find(r, a)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	list, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) ([]annotationOf, error) {
		return annotationsOf(tx, []int64{run.ID}, page.Size, page.Offset())
	})
	if err != nil {
		return err
	}
	web.Link(w, r, page, run.Annotations)
	v := &view{at: issuekit.AddressesOf(r, a)}
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return out.List(len(list), func(n int) (any, error) { return v.annotation(run.SHA, &list[n].Annotation), nil })
	})
}

// GET /repos/{owner}/{repo}/commits/{ref...}/check-runs
//
// ListOfCommit lists the runs of a commit, newest first. They can be filtered by check_name, status and
// app_id. By default only the latest run of each name is listed; filter=all lists all. Errors: 409 for an
// empty repository, 422.
func (api *API) ListOfCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := readFilter(r)
	if err == nil {
		f.app, err = readApp(r)
	}
	if err == nil {
		f.sha, err = api.git.CommitNamed(r.Context(), a, web.Param(r, "ref"))
	}
	if err != nil {
		return err
	}
	return api.list(w, r, a, f)
}

// GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs
//
// ListOfSuite lists the runs of a suite, with the filters of ListOfCommit. Errors: 404, 422.
func (api *API) ListOfSuite(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := readFilter(r)
	if err != nil {
		return err
	}
	suite, err := api.findSuite(r, a)
	if err != nil {
		return err
	}
	f.sha, f.app = suite.SHA, suite.AppID // identify the suite
	return api.list(w, r, a, f)
}

// readFilter reads the query parameters check_name, status and filter. Error: 422.
func readFilter(r *http.Request) (*filter, error) {
	status, err := web.QueryEnum(r, Resource, "status", append([]string{""}, statuses[:]...)...)
	if err != nil {
		return nil, err
	}
	which, err := web.QueryEnum(r, Resource, "filter", "latest", "all")
	return &filter{all: which == "all", name: web.QueryOf(r).Get("check_name"),
		status: Status(numberOf(statuses[:], status))}, err
}

// readApp reads the query parameter app_id. It returns 0 if there is none. Error: 422.
func readApp(r *http.Request) (account.AppID, error) {
	text := web.QueryOf(r).Get("app_id")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, errs.Validation(errs.Field{Resource: Resource, Field: "app_id", Code: errs.InvalidField,
			Value: text})
	}
	return account.AppID(id), nil
}

// list answers a page of runs of one commit.
func (api *API) list(w http.ResponseWriter, r *http.Request, a *repo.Access, f *filter) error {
	page := web.ReadPage(r)
	var list []*Run
	var total int64
	var v *view
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, total, err = runsOf(tx, scanRun, runColumns, a.ID, f, page); err != nil || len(list) == 0 {
			return err
		}
		apps := make([]account.AppID, len(list))
		for n, run := range list {
			apps[n] = run.AppID
		}
		v, err = api.s.look(r.Context(), tx, a, f.sha, apps)
		return err
	})
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return counted(out, total, "check_runs", len(list), func(n int) any { return v.run(list[n]) })
	})
}

// counted writes a list inside an object with total_count, as GitHub does for these lists.
func counted(out *web.Output, total int64, name string, n int, item func(n int) any) error {
	if err := out.Open(struct {
		Total int64 `json:"total_count"`
	}{total}); err != nil {
		return err
	}
	out.Member(name)
	if err := out.List(n, func(n int) (any, error) { return item(n), nil }); err != nil {
		return err
	}
	out.Close()
	return nil
}
