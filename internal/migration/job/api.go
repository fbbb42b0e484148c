package job

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/migration"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of imports.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// apiFields are the fields of bodies.
var apiFields = Fields{URL: "vcs_url", Token: "vcs_password", People: "people"}

// payload is an import, with GitHub's names. Its token is never shown.
type payload struct {
	VCS           string   `json:"vcs"`
	VCSURL        string   `json:"vcs_url"`
	Status        string   `json:"status"`
	StatusText    *string  `json:"status_text"`
	FailedStep    *string  `json:"failed_step"`
	ErrorMessage  *string  `json:"error_message"`
	ImportPercent *int64   `json:"import_percent"`
	AuthorsCount  *int64   `json:"authors_count"`
	HasLargeFiles bool     `json:"has_large_files"`
	URL           string   `json:"url"`
	HTMLURL       string   `json:"html_url"`
	AuthorsURL    string   `json:"authors_url"`
	RepositoryURL string   `json:"repository_url"`
	Report        *reports `json:"report"`
}

// reports is what came, and what did not.
type reports struct {
	Refs     int64                   `json:"refs"`
	Records  map[migration.Kind]came `json:"records"`
	Problems []string                `json:"problems"`
	Omitted  int64                   `json:"omitted_problems"`
}

type came struct {
	New     int64 `json:"new"`
	Changed int64 `json:"changed"`
	Same    int64 `json:"unchanged"`
	Failed  int64 `json:"failed"`
}

// author is somebody whom the records name.
type author struct {
	ID         int64  `json:"id"`
	RemoteID   string `json:"remote_id"`
	RemoteName string `json:"remote_name"`
	Email      string `json:"email"`
	Name       string `json:"name"`
	URL        string `json:"url"`
	ImportURL  string `json:"import_url"`
}

// status is GitHub's word for how far an import is.
func (j *Job) status() string {
	switch {
	case j.Running:
		return "importing"
	case j.Active:
		return "setup"
	case j.Problem != "":
		return "error"
	}
	return "complete"
}

func newPayload(r *http.Request, a *repo.Access, j *Job) *payload {
	from := web.From(r.Context())
	at := from.API(web.Path("repos", a.Owner.Login, a.Name))
	p := &payload{VCS: "git", VCSURL: j.URL, Status: j.status(), URL: at + "/import",
		HTMLURL: from.Page(web.Path(a.Owner.Login, a.Name, "settings", "import")), AuthorsURL: at + "/import/authors",
		RepositoryURL: at}
	if j.Part != "" {
		p.StatusText = &j.Part
	}
	if percent := j.Percent(); percent > 0 {
		p.ImportPercent = &percent
	}
	if j.Problem != "" {
		step := "importing"
		p.FailedStep, p.ErrorMessage = &step, &j.Problem
	}
	if j.Report != nil {
		n := int64(len(j.Report.Matched) + len(j.Report.Mannequins))
		p.AuthorsCount = &n
		p.Report = &reports{Refs: j.Report.Refs, Records: map[migration.Kind]came{}, Problems: j.Report.Problems,
			Omitted: j.Report.Omitted}
		if p.Report.Problems == nil {
			p.Report.Problems = []string{}
		}
		for k, c := range j.Report.Counts {
			p.Report.Records[k] = came(*c)
		}
	}
	return p
}

// GET /repos/{owner}/{repo}/import
//
// Get answers how far the import is, and when it has ended, its report. Error: 404 if nobody has asked for one.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	j, err := api.s.Get(r.Context(), a)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(r, a, j))
}

// PUT /repos/{owner}/{repo}/import
//
// Start asks for an import. Errors: 403, 410, 422.
func (api *API) Start(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("vcs_url")
	body.Fixed("vcs", "git")
	q := Request{URL: body.String("vcs_url", maxURL).Value, Token: body.String("vcs_password", maxToken).Or("")}
	body.String("vcs_username", maxURL) // the token tells whose it is
	body.String("tfvc_project", maxURL) // of another kind of server
	if text := body.Raw("people"); text != nil && string(text) != "null" {
		if len(text) > maxMap || json.Unmarshal(text, &q.People) != nil {
			body.Wrong("people", errs.InvalidField, "people must be an object of logins there, each with a login here")
		}
	}
	if err := body.Err(); err != nil {
		return err
	}
	j, err := api.s.Start(r.Context(), a, q, apiFields)
	if err != nil {
		return err
	}
	p := newPayload(r, a, j)
	return web.Created(w, r, p.URL, p)
}

// PATCH /repos/{owner}/{repo}/import
//
// Restart asks again for an import that has ended, with another token. Errors: 403, 404, 410, 422.
func (api *API) Restart(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	body.Fixed("vcs", "git")
	token := body.String("vcs_password", maxToken).Or("")
	body.String("vcs_username", maxURL) // the token tells whose it is
	body.String("tfvc_project", maxURL) // of another kind of server
	if err := body.Err(); err != nil {
		return err
	}
	j, err := api.s.Restart(r.Context(), a, token, apiFields)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(r, a, j))
}

// DELETE /repos/{owner}/{repo}/import
//
// Cancel ends the import, or forgets one that has ended with its report. Error: 404 if there is none.
func (api *API) Cancel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Cancel(r.Context(), a); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/import/authors
//
// Authors lists whom the imported records name, once the import has ended: first those with accounts here. Error: 404
// if nobody has asked for an import.
func (api *API) Authors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	j, err := api.s.Get(r.Context(), a)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, authorsOf(newPayload(r, a, j), j.Report))
}

func authorsOf(p *payload, report *migration.Report) []author {
	list := []author{}
	if report == nil {
		return list
	}
	add := func(there, name string) {
		list = append(list, author{ID: int64(len(list) + 1), RemoteID: there, RemoteName: there, Name: name,
			URL: p.AuthorsURL, ImportURL: p.URL})
	}
	for _, there := range slices.Sorted(maps.Keys(report.Matched)) {
		add(there, report.Matched[there])
	}
	for _, name := range report.Mannequins {
		there, _, _ := strings.Cut(name, " at ")
		add(there, name)
	}
	return list
}
